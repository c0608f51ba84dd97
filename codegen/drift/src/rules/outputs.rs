//! Rules about what clients read: it may narrow.

use serde_json::{Value, json};

use super::{O0, O1, O2, O3, O4, O5, O6, O7, O8, O9, O10, O11};
use crate::rules::pairing::Comparison;
use crate::schema::{Branches, Difference, SchemaChange, Verdict};
use crate::snapshot::ErrorPattern;
use crate::{Finding, Severity};

pub fn unknown_keyword(difference: Difference) -> SchemaChange {
    let message =
        format!("a keyword of `{}` that the gate does not know: {}", difference.place, difference.shift());
    let difference = Difference { verdict: Verdict::Inside, ..difference };
    difference.judged(&O0, Severity::Ack, message)
}

/// `gone`: the property is not there any more.
pub fn no_longer_required(difference: Difference, gone: bool) -> SchemaChange {
    let what = if gone { "is gone" } else { "has become optional" };
    let message = format!("the required property `{}` {what}", difference.place);
    difference.graded(&O1, Severity::Break, message)
}

pub fn removed(difference: Difference) -> SchemaChange {
    let message = format!("the optional property `{}` is gone", difference.place);
    difference.judged(&O2, Severity::Ack, message)
}

/// `to` is the new place in words. `breaks`: results lack what every result had.
pub fn renamed(difference: Difference, to: &str, breaks: bool, required: bool) -> SchemaChange {
    let message = format!("`{}` is gone, and `{to}` holds its values now", difference.place);
    let rule = if required { &O1 } else { &O2 };
    difference.judged(rule, if breaks { Severity::Break } else { Severity::Ack }, message)
}

/// `was_open`: readers had to expect properties of that name.
pub fn added(difference: Difference, was_open: bool) -> SchemaChange {
    let message = format!("the property `{}` is new", difference.place);
    let severity = if was_open && !difference.loses() { Severity::Info } else { Severity::Ack };
    difference.judged(&O3, severity, message)
}

pub fn made_required(difference: Difference) -> SchemaChange {
    let message = format!("`{}` is always there now", difference.place);
    difference.graded(&O4, Severity::Ack, message)
}

pub fn type_changed(difference: Difference) -> SchemaChange {
    let message = format!("the type of `{}`: {}", difference.place, difference.shift());
    difference.graded(&O5, Severity::Break, message)
}

/// A union of several forms of one type.
pub fn branches(difference: Difference, branches: &Branches) -> SchemaChange {
    let message = branches.shift(&difference.place, ["may be", "is no longer"]);
    difference.graded(&O5, Severity::Break, message)
}

/// The schemas as a whole, when no other finding names the loss.
pub fn whole(difference: Difference) -> SchemaChange {
    difference.graded(&O5, Severity::Break, "the output has other values than before".to_owned())
}

/// A list with a way out (`anyOf` of the list and `string`) is open, and takes new values without a finding.
pub fn values(difference: Difference) -> SchemaChange {
    let message = format!("the values of `{}`: {}", difference.place, difference.shift());
    difference.graded(&O6, Severity::Ack, message)
}

pub fn bound(difference: Difference) -> SchemaChange {
    let message = format!("a bound of `{}`: {}", difference.place, difference.shift());
    difference.graded(&O7, Severity::Break, message)
}

pub fn bound_beyond_exact(difference: Difference) -> SchemaChange {
    let message = super::inputs::beyond_exact(&difference);
    difference.graded(&O7, Severity::Info, message)
}

/// Formats are judged like patterns.
pub fn pattern(difference: Difference) -> SchemaChange {
    let message = format!("the pattern of `{}`: {}", difference.place, difference.shift());
    difference.graded(&O8, Severity::Ack, message)
}

pub fn closed_or_opened(difference: Difference) -> SchemaChange {
    let what = if difference.loses() {
        "may hold any property now"
    } else {
        "holds no property that it does not name"
    };
    let message = format!("`{}` {what}", difference.place);
    difference.graded(&O9, Severity::Ack, message)
}

pub fn schema_declared(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let finding = match (&pair.old.output, &pair.new.output) {
            (None, Some(new)) => O10.finding(
                Severity::Info,
                "/output",
                (Value::Null, new.clone()),
                "Results have a schema now.",
            ),
            (Some(old), None) => O10.finding(
                Severity::Break,
                "/output",
                (old.clone(), Value::Null),
                "Results no longer have a schema.",
            ),
            _ => continue,
        };
        found.push(finding.of(pair.name()).help("keep the schema, and keep results within it"));
    }
}

pub fn envelope_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let plain = old.is_plain().zip(new.is_plain());
        if let Some((before, after)) = plain.filter(|(before, after)| before != after) {
            let message = match after {
                true => "Results stand in the reply as they are, no longer in `data`.",
                false => "Results stand in `data`, no longer in the reply as they are.",
            };
            let finding = O11.finding(Severity::Break, "/envelope", (json!(!before), json!(!after)), message);
            found.push(
                finding.of(pair.name()).help("leave the envelope, or add a tool that has the other one"),
            );
        }
        if old.pattern == new.pattern {
            continue;
        }
        let message = match new.pattern {
            ErrorPattern::A => {
                "Errors stand at the top of the reply with `isError: true`, no longer in `data`."
            }
            ErrorPattern::B => {
                "Errors stand in `data` with `isError: false`, no longer at the top of the reply."
            }
            ErrorPattern::C => "Errors have their own code and fields in `error`, with `isError: true`.",
        };
        let finding =
            O11.finding(Severity::Break, "/pattern", (json!(old.pattern), json!(new.pattern)), message);
        found.push(finding.of(pair.name()).help("leave the pattern, or add a tool that has the other one"));
    }
}
