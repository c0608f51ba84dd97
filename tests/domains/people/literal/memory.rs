//! What the literal client remembers of replies.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What replies held, the oldest first.
#[derive(Debug, Default)]
pub struct Memory(Vec<Learnt>);

/// What one reply held.
#[derive(Debug)]
struct Learnt {
    tool: String,
    values: BTreeMap<String, Value>,
}

impl Memory {
    /// Remembers a reply.
    pub fn learn(&mut self, tool: &str, data: &Value) {
        let mut values = BTreeMap::new();
        collect(data, &mut values);
        if !values.is_empty() {
            self.0.push(Learnt { tool: tool.to_owned(), values });
        }
    }

    /// The newest value of that name that one of the tools returned.
    pub fn newest(&self, tools: &BTreeSet<String>, name: &str) -> Option<Value> {
        let from = |learnt: &&Learnt| tools.contains(&learnt.tool) && learnt.values.contains_key(name);
        self.0.iter().rev().find(from).and_then(|learnt| learnt.values.get(name).cloned())
    }

    /// The value of that name in the newest reply that also held one of `about`.
    pub fn latest(&self, name: &str, about: &BTreeMap<String, Value>) -> Option<&Value> {
        let fits = |learnt: &&Learnt| {
            learnt.values.contains_key(name)
                && about.iter().any(|(name, value)| learnt.values.get(name) == Some(value))
        };
        self.0.iter().rev().find(fits)?.values.get(name)
    }

    /// Forgets each reply that held one of the values.
    pub fn forget(&mut self, values: &[&Value]) {
        self.0.retain(|learnt| !learnt.values.values().any(|value| values.contains(&value)));
    }
}

/// Takes the scalar members of an object, then those of the objects in it, then those of the first object of each list.
fn collect(data: &Value, into: &mut BTreeMap<String, Value>) {
    let Some(members) = data.as_object() else { return };
    for (name, value) in members {
        if value.is_string() || value.is_number() {
            into.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    for value in members.values() {
        collect(value.as_array().and_then(|list| list.first()).unwrap_or(value), into);
    }
}
