//! I16: a limit on the size of arguments is lower or new.
//!
//! The datum is the rule `max_bytes` of a lock; the limits of the wire belong to the runtime.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::pairing::Comparison;
use crate::snapshot::Contract;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I16",
    direction: Direction::Input,
    title: "input size limit lowered or raised",
    why: "arguments that were taken are refused",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let (old, new) = (limits(old), limits(new));
        let fields: std::collections::BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
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
                RULE.finding(severity, format!("/rules/max_bytes/{field}"), (before, after), message);
            let help = "leave the limit, or let the handler deal with what is over it";
            found.push(Finding { witness: witness(field, after), ..finding.of(pair.name()).help(help) });
        }
    }
}

/// The tightest limit of each field.
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

fn witness(field: &str, limit: Option<u64>) -> Option<Value> {
    let length = usize::try_from(limit.filter(|limit| *limit < MAX_WITNESS)?.saturating_add(1)).ok()?;
    Some(json!({ field: "a".repeat(length) }))
}
