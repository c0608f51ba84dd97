//! Rules about what clients send: it may accept more than before.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12, I13, I15, I16, I17, I18};
use crate::rules::pairing::{Comparison, words};
use crate::rules::strings::same_words;
use crate::schema::difference::brief;
use crate::schema::{Branches, Difference, SchemaChange, Verdict};
use crate::snapshot::Contract;
use crate::{Finding, Nature, Severity};

/// Compares what only a lock holds, not a schema: limits in bytes (I16), rules across fields (I13), secrets (I15).
pub fn beyond_schemas(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    size_limits(change, found);
    across_fields(change, found);
    secrets(change, found);
}

pub fn unknown_keyword(difference: Difference) -> SchemaChange {
    let message =
        format!("a keyword of `{}` that the gate does not know: {}", difference.place, difference.shift());
    let difference = Difference { verdict: Verdict::Inside, ..difference };
    difference.judged(&I0, Severity::Ack, message)
}

/// `new`: the property was not there before.
pub fn required(difference: Difference, new: bool) -> SchemaChange {
    let what = if new { "is new and required" } else { "has become required" };
    let message = format!("`{}` {what}", difference.place);
    difference.graded(&I1, Severity::Break, message)
}

/// The property had the same default before, when it was optional.
pub fn required_with_default(difference: Difference, default: &Value) -> SchemaChange {
    let message = format!(
        "`{}` has become required, with the default {} as before: a server that fills in defaults before it validates goes on taking calls without it",
        difference.place,
        brief(default)
    );
    difference.graded(&I18, Severity::Ack, message)
}

pub fn made_optional(difference: Difference) -> SchemaChange {
    let message = format!("`{}` has become optional", difference.place);
    difference.graded(&I2, Severity::Break, message)
}

/// `was_open`: the object let through properties of that name before. `by_default`: its schema does not say so.
pub fn added(difference: Difference, was_open: bool, by_default: bool) -> SchemaChange {
    let message = format!("the optional property `{}` is new", difference.place);
    let severity = if was_open || difference.loses() { Severity::Ack } else { Severity::Info };
    let nature = if was_open && by_default { Nature::OpenByDefault } else { Nature::Plain };
    SchemaChange { nature, ..difference.judged(&I3, severity, message) }
}

/// `is_open`: the object still lets properties of that name through.
pub fn removed(difference: Difference, is_open: bool) -> SchemaChange {
    let message = format!("the property `{}` is gone", difference.place);
    if is_open && !difference.loses() {
        return difference.judged(&I4, Severity::Ack, format!("{message}; what calls say there is ignored"));
    }
    difference.graded(&I4, Severity::Break, message)
}

/// `to` is the new place in words. `breaks`: calls with the old name, or without the new one, are refused.
pub fn renamed(difference: Difference, to: &str, breaks: bool) -> SchemaChange {
    let message = format!("`{}` is gone, and `{to}` takes its values now", difference.place);
    difference.judged(&I4, if breaks { Severity::Break } else { Severity::Ack }, message)
}

pub fn type_changed(difference: Difference) -> SchemaChange {
    let message = format!("the type of `{}`: {}", difference.place, difference.shift());
    difference.graded(&I5, Severity::Break, message)
}

pub fn values(difference: Difference) -> SchemaChange {
    let message = format!("the values of `{}`: {}", difference.place, difference.shift());
    difference.graded(&I6, Severity::Break, message)
}

pub fn bound(difference: Difference) -> SchemaChange {
    let message = format!("a bound of `{}`: {}", difference.place, difference.shift());
    difference.graded(&I7, Severity::Break, message)
}

/// A bound at the end of the integers that JSON clients can send exactly, or beyond; schema libraries write it for every integer.
pub fn bound_beyond_exact(difference: Difference) -> SchemaChange {
    let message = beyond_exact(&difference);
    difference.graded(&I7, Severity::Info, message)
}

/// The message for such a bound, also in outputs.
pub fn beyond_exact(difference: &Difference) -> String {
    let (place, shift) = (&difference.place, difference.shift());
    format!("a bound of `{place}`: {shift}; beyond it, JSON clients cannot tell integers apart")
}

pub fn pattern_set(difference: Difference) -> SchemaChange {
    let message = format!("the pattern of `{}`: {}", difference.place, difference.shift());
    difference.graded(&I8, Severity::Break, message)
}

/// Automata decide whether one language includes the other; a witness holds the shortest string that only the
/// old pattern matches.
pub fn pattern(difference: Difference) -> SchemaChange {
    let message = format!("the pattern of `{}`: {}", difference.place, difference.shift());
    difference.graded(&I9, Severity::Break, message)
}

/// Whether formats are asserted depends on the validator, so no value decides it.
pub fn format(difference: Difference) -> SchemaChange {
    let message = format!("the format of `{}`: {}", difference.place, difference.shift());
    let severity = if difference.new.is_null() { Severity::Info } else { Severity::Ack };
    let difference = Difference { verdict: Verdict::Inside, ..difference };
    difference.judged(&I10, severity, message)
}

pub fn closed_or_opened(difference: Difference) -> SchemaChange {
    let message = if difference.loses() {
        format!("`{}` no longer takes properties that it does not name", difference.place)
    } else {
        format!("`{}` takes any property now, so that typing errors go unnoticed", difference.place)
    };
    difference.graded(&I11, Severity::Break, message)
}

/// `may_be_absent`: old calls could leave the argument out; otherwise its default has no effect.
pub fn default(difference: Difference, may_be_absent: bool) -> SchemaChange {
    let message = format!("the default of `{}`: {}", difference.place, difference.shift());
    let severity = if may_be_absent { Severity::Break } else { Severity::Info };
    difference.judged(&I12, severity, message)
}

pub fn condition(difference: Difference) -> SchemaChange {
    let message = format!("a condition of `{}`: {}", difference.place, difference.shift());
    difference.graded(&I13, Severity::Break, message)
}

/// Compares unions of several forms of one type.
pub fn branches(difference: Difference, branches: &Branches) -> SchemaChange {
    let message = branches.shift(&difference.place, ["takes", "no longer takes"]);
    difference.graded(&I13, Severity::Break, message)
}

/// Compares the schemas as a whole, when no other finding names the loss.
pub fn whole(difference: Difference) -> SchemaChange {
    difference.graded(&I13, Severity::Break, "the input takes other values than before".to_owned())
}

/// Returns whether two schemas accept the same values, so that rules about values have nothing to report. I14 has no
/// finding of its own: it silences the others.
pub fn is_same(loss: &Verdict, gain: &Verdict) -> bool {
    *loss == Verdict::Inside && *gain == Verdict::Inside
}

/// Names the kind of a new argument: `a secret`, `a path`, `an address`, `a command`.
pub fn kind(name: &str, format: Option<&str>) -> Option<&'static str> {
    if format
        .is_some_and(|format| format.starts_with("uri") || format.starts_with("iri") || format == "hostname")
    {
        return Some("an address");
    }
    let words = words(name);
    let joined = words.join("_");
    KINDS
        .iter()
        .find(|(_, marks)| {
            marks.iter().any(|mark| {
                words.iter().any(|word| word == mark) || mark.contains('_') && joined.contains(mark)
            })
        })
        .map(|(kind, _)| *kind)
}

const KINDS: [(&str, &[&str]); 4] = [
    (
        "a secret",
        &[
            "password",
            "passwd",
            "passphrase",
            "secret",
            "secrets",
            "token",
            "apikey",
            "api_key",
            "credential",
            "credentials",
            "private_key",
            "access_key",
            "auth",
            "authorization",
            "bearer",
            "cookie",
        ],
    ),
    (
        "a path",
        &["path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "cwd"],
    ),
    ("an address", &["url", "urls", "uri", "uris", "endpoint", "host", "hostname", "webhook", "callback"]),
    ("a command", &["command", "commands", "cmd", "shell", "exec", "script", "sql", "code", "argv"]),
];

pub fn far_reaching(difference: Difference, kind: &str) -> SchemaChange {
    let message = format!("the new property `{}` looks like {kind}", difference.place);
    SchemaChange { security: true, ..difference.judged(&I15, Severity::Ack, message) }
}

pub fn description(difference: Difference) -> SchemaChange {
    let place = &difference.place;
    let words = |text: &Value| text.as_str().unwrap_or_default().to_owned();
    if same_words(&words(&difference.old), &words(&difference.new)) {
        let message = format!("the description of `{place}` changed in white space only");
        return difference.judged(&I17, Severity::Info, message);
    }
    if words(&difference.new).is_empty() {
        let message = format!("the description of `{place}` is gone");
        return difference.judged(&I17, Severity::Info, message);
    }
    let message = format!("the description of `{place}` changed");
    let nature = if words(&difference.old).is_empty() { Nature::Plain } else { Nature::Wording };
    SchemaChange { security: true, nature, ..difference.judged(&I17, Severity::Ack, message) }
}

pub fn size_limits(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let (old, new) = (limits(old), limits(new));
        let fields: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for field in fields {
            let (before, after) = (old.get(field).copied(), new.get(field).copied());
            let (severity, message) = match (before, after) {
                (None, Some(limit)) => {
                    (Severity::Break, format!("`{field}` is limited to {limit} bytes now."))
                }
                (Some(before), Some(after)) if after < before => {
                    (Severity::Break, format!("`{field}` may have {after} bytes instead of {before}."))
                }
                (Some(before), Some(after)) if after > before => {
                    (Severity::Info, format!("`{field}` may have {after} bytes instead of {before}."))
                }
                (Some(before), None) => {
                    (Severity::Info, format!("`{field}` is no longer limited to {before} bytes."))
                }
                _ => continue,
            };
            let finding =
                I16.finding(severity, format!("/rules/max_bytes/{field}"), (before, after), message);
            let help = "leave the limit, or let the handler deal with what is over it";
            found.push(Finding { witness: longer(field, after), ..finding.of(pair.name()).help(help) });
        }
    }
}

/// Returns the tightest limit of each field.
fn limits(contract: &Contract) -> BTreeMap<&str, u64> {
    let mut limits = BTreeMap::new();
    for rule in contract.rules.iter().filter_map(|rule| rule.get("max_bytes")) {
        if let (Some(field), Some(limit)) =
            (rule.get("field").and_then(Value::as_str), rule.get("limit").and_then(Value::as_u64))
        {
            limits.entry(field).and_modify(|known: &mut u64| *known = limit.min(*known)).or_insert(limit);
        }
    }
    limits
}

/// The longest witness that is written out.
const MAX_WITNESS: u64 = 256;

fn longer(field: &str, limit: Option<u64>) -> Option<Value> {
    let length = usize::try_from(limit.filter(|limit| *limit < MAX_WITNESS)?.saturating_add(1)).ok()?;
    Some(json!({ field: "a".repeat(length) }))
}

pub fn across_fields(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for rule in demands(&new.rules).filter(|rule| !holds(&old.rules, rule)) {
            let message = format!("The arguments must obey a new rule, {}.", told(rule));
            let finding = I13.finding(Severity::Break, "/rules", (Value::Null, rule.clone()), message);
            let help =
                "take what was taken, and let the handler answer what it cannot use with an error of its own";
            found.push(finding.of(pair.name()).help(help));
        }
        for rule in demands(&old.rules).filter(|rule| !holds(&new.rules, rule)) {
            let message = format!("The arguments need no longer obey {}.", told(rule));
            let finding = I13.finding(Severity::Info, "/rules", (rule.clone(), Value::Null), message);
            found.push(finding.of(pair.name()));
        }
    }
}

/// Returns the rules except limits of size, which I16 compares.
fn demands(rules: &[Value]) -> impl Iterator<Item = &Value> {
    rules.iter().filter(|rule| rule.get("max_bytes").is_none())
}

/// Returns whether one of the rules demands the same, with any error message.
fn holds(rules: &[Value], wanted: &Value) -> bool {
    rules.iter().any(|rule| without_message(rule) == without_message(wanted))
}

fn without_message(rule: &Value) -> Value {
    let mut rule = rule.clone();
    for body in rule.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if let Some(members) = body.as_object_mut() {
            members.remove("message");
        }
    }
    rule
}

/// Describes a rule roughly as `` `either`: text excludes file ``: its name and its fields.
fn told(rule: &Value) -> String {
    let Some((name, body)) = rule.as_object().and_then(|members| members.iter().next()) else {
        return rule.to_string();
    };
    let mut fields = Vec::new();
    for key in ["field", "alias"] {
        fields.extend(body.get(key).and_then(Value::as_str).map(|field| format!("`{field}`")));
    }
    for other in body.get("others").and_then(Value::as_array).into_iter().flatten() {
        fields.extend(other.as_str().map(|field| format!("`{field}`")));
    }
    if fields.is_empty() { format!("`{name}`") } else { format!("`{name}` ({})", fields.join(", ")) }
}

pub fn secrets(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for name in new.sensitive.iter().filter(|name| !old.sensitive.contains(name)) {
            let message = format!("The argument `{name}` holds a secret now.");
            let values = (Value::Null, name.as_str());
            let finding = I15.finding(Severity::Ack, "/sensitive", values, message);
            let help = "take secrets from the environment, where no model sees them";
            found.push(finding.of(pair.name()).secure().help(help));
        }
        for name in old.sensitive.iter().filter(|name| !new.sensitive.contains(name)) {
            let message =
                format!("The argument `{name}` is no longer kept secret: it will stand in records.");
            let values = (name.as_str(), Value::Null);
            let finding = I15.finding(Severity::Ack, "/sensitive", values, message);
            found
                .push(finding.of(pair.name()).secure().help("leave it in `sensitive` while it can hold one"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn names_are_read_by_word() {
        assert_eq!(kind("accessToken", None), Some("a secret"));
        assert_eq!(kind("api-key", None), Some("a secret"));
        assert_eq!(kind("output_path", None), Some("a path"));
        assert_eq!(kind("target", Some("uri")), Some("an address"));
        assert_eq!(kind("cmd", None), Some("a command"));
        for plain in ["pathology", "title", "profile", "author", "tokenise"] {
            assert_eq!(kind(plain, None), None, "{plain}");
        }
    }
}
