//! E4: the details of an error have another shape. Judged as results are, O1 to O9.

use serde_json::{Map, Value, json};

use crate::pairing::Comparison;
use crate::schema::{self, compare};
use crate::snapshot::ToolError;
use crate::{Direction, Finding, Rule};

/// The rule.
pub const RULE: Rule = Rule {
    id: "E4",
    direction: Direction::Error,
    title: "shape of an error's details changed",
    why: "clients read details as they read results",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for before in &old.errors {
            let Some(after) = new.errors.iter().find(|error| error.code == before.code) else { continue };
            if before.fields == after.fields {
                continue;
            }
            for inner in compare(&details(before), &details(after), schema::Direction::Output) {
                let pointer = format!("/errors/{}/fields{}", before.code, inner.pointer);
                let message =
                    format!("In the details of `{}` ({}): {}.", before.code, inner.rule, inner.message);
                let finding = RULE.finding(inner.severity, pointer, (inner.old, inner.new), message);
                let help = "leave details as they are, and add new ones beside them";
                found.push(Finding { witness: inner.witness, ..finding.of(pair.name()).help(help) });
            }
        }
    }
}

/// The details as one schema: all are always present, and more may come.
fn details(error: &ToolError) -> Value {
    let names: Vec<&String> = error.fields.keys().collect();
    let properties: &Map<String, Value> = &error.fields;
    json!({"type": "object", "properties": properties, "required": names})
}
