//! T4: tools or properties are listed in another order.

use serde_json::{Value, json};

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T4",
    direction: Direction::Tool,
    title: "order of tools or properties changed",
    why: "the specification asks for a deterministic order, and prompt caches miss",
};

const HELP: &str = "restore the old order and put what is new at the end";

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    let names = |tools: &[crate::snapshot::Tool]| -> Vec<String> {
        tools.iter().map(|tool| tool.name.clone()).collect()
    };
    if let Some((old, new)) = reordered(&names(&change.old.tools), &names(&change.new.tools)) {
        let message = format!("Tools are listed in another order: `{}` first differs.", first(&old, &new));
        found.push(RULE.finding(Severity::Ack, "/tools", (old, new), message).help(HELP));
    }
    for pair in &change.pairs {
        let mut inside = Vec::new();
        properties(&pair.old.input, &pair.new.input, "/input", &mut inside);
        if let (Some(old), Some(new)) = (&pair.old.output, &pair.new.output) {
            properties(old, new, "/output", &mut inside);
        }
        found.extend(inside.into_iter().map(|finding| finding.of(pair.name()).help(HELP)));
    }
}

/// Looks for properties in another order, in every place where both schemas have some.
fn properties(old: &Value, new: &Value, pointer: &str, found: &mut Vec<Finding>) {
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            if let (Some(Value::Object(a)), Some(Value::Object(b))) =
                (before.get("properties"), after.get("properties"))
            {
                let names = |members: &serde_json::Map<String, Value>| -> Vec<String> {
                    members.keys().cloned().collect()
                };
                if let Some((old, new)) = reordered(&names(a), &names(b)) {
                    let message = format!(
                        "Properties are listed in another order: `{}` first differs.",
                        first(&old, &new)
                    );
                    let pointer = format!("{pointer}/properties");
                    found.push(RULE.finding(Severity::Ack, pointer, (old, new), message));
                }
            }
            for (key, old) in before {
                if let Some(new) = after.get(key).filter(|_| !is_data(key)) {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    properties(old, new, &format!("{pointer}/{key}"), found);
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (old, new)) in before.iter().zip(after).enumerate() {
                properties(old, new, &format!("{pointer}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Keywords whose values are data of users, which may look like a schema.
fn is_data(key: &str) -> bool {
    matches!(key, "default" | "const" | "enum" | "examples")
}

/// What both have, in either order, when the orders differ.
fn reordered(old: &[String], new: &[String]) -> Option<(Value, Value)> {
    let old_common: Vec<&String> = old.iter().filter(|name| new.contains(name)).collect();
    let new_common: Vec<&String> = new.iter().filter(|name| old.contains(name)).collect();
    (old_common != new_common).then(|| (json!(old_common), json!(new_common)))
}

/// The first name that stands elsewhere now.
fn first<'a>(old: &'a Value, new: &'a Value) -> &'a str {
    let (old, new) = (old.as_array().into_iter().flatten(), new.as_array().into_iter().flatten());
    old.zip(new).find(|(a, b)| a != b).and_then(|(a, _)| a.as_str()).unwrap_or_default()
}
