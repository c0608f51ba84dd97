//! I13 for what no schema says: rules across fields (`either`, `alias_equal`, `no_nul`) added or removed.

use serde_json::Value;

use super::i13::RULE;
use crate::pairing::Comparison;
use crate::{Finding, Severity};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for rule in demands(&new.rules).filter(|rule| !holds(&old.rules, rule)) {
            let message = format!("The arguments must obey a new rule, {}.", told(rule));
            let finding = RULE.finding(Severity::Break, "/rules", (Value::Null, rule.clone()), message);
            let help =
                "take what was taken, and let the handler answer what it cannot use with an error of its own";
            found.push(finding.of(pair.name()).help(help));
        }
        for rule in demands(&old.rules).filter(|rule| !holds(&new.rules, rule)) {
            let message = format!("The arguments need no longer obey {}.", told(rule));
            let finding = RULE.finding(Severity::Info, "/rules", (rule.clone(), Value::Null), message);
            found.push(finding.of(pair.name()));
        }
    }
}

/// The rules that are no limits of size; those are I16's.
fn demands(rules: &[Value]) -> impl Iterator<Item = &Value> {
    rules.iter().filter(|rule| rule.get("max_bytes").is_none())
}

/// Whether the same is demanded, in whatever words it is refused.
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

/// `` `either`: text excludes file ``, roughly: the rule's name and its fields.
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
