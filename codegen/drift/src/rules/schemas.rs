//! Schemas of tools: the comparison's changes as findings.

use serde_json::Value;

use super::changes;
use super::pairing::{Comparison, Pair};
use super::texts::new_signs;
use crate::finding::{Finding, Nature};
use crate::schema::{Direction, SchemaChange};

/// Compares all schemas of all tools that are in both states.
pub(crate) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    let names: Vec<&str> = change.new.tools.iter().map(|tool| tool.name.as_str()).collect();
    for pair in &change.pairs {
        let mut push = |prefix: &str, changes: Vec<SchemaChange>| {
            found.extend(changes.into_iter().map(|change| {
                let mut finding = finding(change, prefix).of(pair.name());
                if let ("I17", Some(old), Some(new)) =
                    (finding.rule, finding.old.as_str(), finding.new.as_str())
                {
                    let signs = new_signs(old, new, pair.name(), &names);
                    if !signs.is_empty() {
                        finding.nature = Nature::Plain;
                    }
                    finding.message.push_str(&signs);
                }
                finding
            }));
        };
        push("/input", compare(&pair.old.input, &pair.new.input, Direction::Input));
        if let (Some(old), Some(new)) = (&pair.old.output, &pair.new.output) {
            push("/output", compare(old, new, Direction::Output));
        }
        contracts(pair, &mut push);
    }
}

/// Compares what only locks hold: the reply around the payload, and the input under a setting.
fn contracts(pair: &Pair<'_>, push: &mut impl FnMut(&str, Vec<SchemaChange>)) {
    let Some((old, new)) = pair.contracts() else { return };
    // Another pattern, and an envelope that comes or goes, are O11's.
    if old.pattern == new.pattern && old.is_plain() == new.is_plain() {
        push("/envelope", compare(&old.frame, &new.frame, Direction::Output));
    }
    let input = |relaxed: Option<&crate::snapshot::Relaxed>, strict| {
        relaxed.map_or_else(|| Value::clone(strict), |relaxed| relaxed.input.clone())
    };
    if let Some(before) = &old.relaxed {
        // The setting may be gone or have another name: then the strict input holds.
        let same = new
            .relaxed
            .as_ref()
            .filter(|after| (&after.setting, &after.value) == (&before.setting, &before.value));
        let after = input(same, &pair.new.input);
        let prefix = format!("/relaxed/{}", before.setting);
        push(&prefix, compare(&before.input, &after, Direction::Input));
    } else if new.relaxed.is_some() {
        let prefix = "/relaxed";
        push(
            prefix,
            compare(&pair.old.input, &input(new.relaxed.as_ref(), &pair.new.input), Direction::Input),
        );
    }
}

/// Compares two schemas; equal ones, as most are, cost nothing.
fn compare(old: &Value, new: &Value, direction: Direction) -> Vec<SchemaChange> {
    if old == new { Vec::new() } else { changes::compare(old, new, direction) }
}

fn finding(change: SchemaChange, prefix: &str) -> Finding {
    let rule = super::rule(change.rule);
    Finding {
        rule: change.rule,
        severity: change.severity,
        security: change.security,
        nature: change.nature,
        tool: None,
        also: Vec::new(),
        pointer: format!("{prefix}{}", change.pointer),
        places: change.places.iter().map(|place| format!("{prefix}{place}")).collect(),
        old: change.old,
        new: change.new,
        message: sentence(&change.message),
        why: rule.map_or("", |rule| rule.why),
        help: help(change.rule).to_owned(),
        witness: change.witness,
    }
}

/// Makes a sentence of a message of the comparison, which begins with a small letter and has no full stop.
pub(super) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// Returns how to make the change without the break, by rule.
fn help(rule: &str) -> &'static str {
    match rule {
        "I1" => "let the property be optional, and let the handler fill it in",
        "I18" => {
            "let the property stay optional in the published schema, or make sure that the server fills in the default first"
        }
        "I3" => "choose a name that calls cannot have carried before, or waive it after a look at real calls",
        "I4" => "keep the old property and take both; let the handler prefer the new one",
        "I5" | "I13" => "go on taking the old form beside the new one (`anyOf`)",
        "I6" => "keep the old values, and answer those that are no longer served with an error of their own",
        "I7" | "I8" | "I9" => {
            "leave the bound, and let the handler answer what it cannot use with an error of its own"
        }
        "I10" => "leave the format, or check it in the handler",
        "I11" => "leave the object open, and ignore what is not known",
        "I12" => "keep the default, and give the new behaviour a property of its own",
        "I15" => "take secrets from the environment, and paths and URLs from a list of allowed ones",
        "I17" => "read the new text as a model would: does it fill the argument as before?",
        "O1" | "O2" => "keep the property, with the value it would have had",
        "O3" => "open the object (`additionalProperties`), or add the property with a new major version",
        "O5" | "O7" | "O8" => {
            "leave results within the old schema, and give what is new a property of its own"
        }
        "O6" => "keep answering the old values, and give the new distinction a property of its own",
        "O9" => "leave the object closed, and declare what it may hold",
        _ => "leave the schema as it was, or say in a waiver why clients can live with it",
    }
}
