//! Rules about what a server offers beside tools: prompts, resources and templates of resources.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{P1, P2, P3, R1, R2, R3};
use crate::rules::pairing::Comparison;
use crate::rules::strings::segment;
use crate::{Finding, Rule, Severity};

/// One kind of entry, and what its lists are called.
struct Kind {
    word: &'static str,
    list: &'static str,
    /// The member by which clients ask for an entry.
    key: &'static str,
    gone: &'static Rule,
    new: &'static Rule,
}

const PROMPTS: Kind = Kind { word: "prompt", list: "prompts", key: "name", gone: &P1, new: &P2 };
const RESOURCES: Kind = Kind { word: "resource", list: "resources", key: "uri", gone: &R1, new: &R2 };
const TEMPLATES: Kind = Kind {
    word: "template of resources",
    list: "resourceTemplates",
    key: "uriTemplate",
    gone: &R1,
    new: &R2,
};

/// Entries by the names that clients use.
fn by_key<'a>(entries: &'a [Value], key: &str) -> BTreeMap<&'a str, &'a Value> {
    entries.iter().filter_map(|entry| Some((entry.get(key)?.as_str()?, entry))).collect()
}

/// The entries that both states have, with their pointers: prompts, resources and templates.
pub(super) fn shared<'a>(change: &Comparison<'a>) -> Vec<(String, &'a Value, &'a Value)> {
    let mut pairs = Vec::new();
    for (kind, old, new) in lists(change) {
        let before = by_key(old, kind.key);
        for (name, after) in by_key(new, kind.key) {
            if let Some(before) = before.get(name) {
                pairs.push((format!("/{}/{}", kind.list, segment(name)), *before, after));
            }
        }
    }
    pairs
}

/// The entries that only the new state has, with their pointers.
pub(super) fn added<'a>(change: &Comparison<'a>) -> Vec<(String, &'a Value)> {
    let mut entries = Vec::new();
    for (kind, old, new) in lists(change) {
        let before = by_key(old, kind.key);
        let fresh = by_key(new, kind.key).into_iter().filter(|(name, _)| !before.contains_key(name));
        entries.extend(fresh.map(|(name, entry)| (format!("/{}/{}", kind.list, segment(name)), entry)));
    }
    entries
}

/// The lists that both states tell.
fn lists<'a>(change: &Comparison<'a>) -> Vec<(&'static Kind, &'a [Value], &'a [Value])> {
    let (old, new) = (change.old, change.new);
    let all = [
        (&PROMPTS, &old.prompts, &new.prompts),
        (&RESOURCES, &old.resources, &new.resources),
        (&TEMPLATES, &old.templates, &new.templates),
    ];
    all.into_iter().filter_map(|(kind, old, new)| Some((kind, old.as_deref()?, new.as_deref()?))).collect()
}

/// Entries that are gone or new.
fn listed(change: &Comparison<'_>, rule: &Rule, found: &mut Vec<Finding>) {
    for (kind, old, new) in lists(change) {
        let (before, after) = (by_key(old, kind.key), by_key(new, kind.key));
        let pointer = |name: &str| format!("/{}/{}", kind.list, segment(name));
        for name in before.keys().filter(|name| kind.gone == rule && !after.contains_key(*name)) {
            let message = format!("The {} `{name}` is gone.", kind.word);
            let finding = rule.finding(Severity::Break, pointer(name), (*name, Value::Null), message);
            found.push(finding.help(format!("go on offering `{name}`")));
        }
        for name in after.keys().filter(|name| kind.new == rule && !before.contains_key(*name)) {
            let message = format!("The {} `{name}` is new.", kind.word);
            found.push(rule.finding(Severity::Info, pointer(name), (Value::Null, *name), message));
        }
    }
}

pub fn prompt_removed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    listed(change, &P1, found);
}

pub fn prompt_added(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    listed(change, &P2, found);
}

pub fn resource_removed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    listed(change, &R1, found);
}

pub fn resource_added(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    listed(change, &R2, found);
}

fn arguments(prompt: &Value) -> BTreeMap<&str, &Value> {
    let listed = prompt.get("arguments").and_then(Value::as_array);
    by_key(listed.map_or(&[], Vec::as_slice), "name")
}

fn required(argument: &Value) -> bool {
    argument.get("required") == Some(&Value::Bool(true))
}

pub fn prompt_arguments(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for (pointer, old, new) in shared(change).into_iter().filter(|(at, ..)| at.starts_with("/prompts/")) {
        let (before, after) = (arguments(old), arguments(new));
        let mut push = |severity, name: &str, values: (Value, Value), what: &str| {
            let place = format!("{pointer}/arguments/{}", segment(name));
            let message = format!("The argument `{name}` {what}.");
            let help = "let new arguments be optional, and ignore those that no longer count";
            found.push(P3.finding(severity, place, values, message).help(help));
        };
        for (name, argument) in &after {
            let state = |is: bool| json!({ "required": is });
            match before.get(name).map(|argument| required(argument)) {
                None if required(argument) => {
                    push(Severity::Break, name, (Value::Null, state(true)), "is new and required");
                }
                None => push(Severity::Info, name, (Value::Null, state(false)), "is new and optional"),
                Some(false) if required(argument) => {
                    push(Severity::Break, name, (state(false), state(true)), "has become required");
                }
                Some(true) if !required(argument) => {
                    push(Severity::Info, name, (state(true), state(false)), "has become optional");
                }
                Some(_) => {}
            }
        }
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            push(Severity::Ack, name, (json!(name), Value::Null), "is gone");
        }
    }
}

pub fn resource_form(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for (pointer, old, new) in shared(change) {
        for (member, severity) in [("mimeType", Severity::Ack), ("size", Severity::Info)] {
            if old.get(member) != new.get(member) {
                let values = (old.get(member).cloned(), new.get(member).cloned());
                let message = format!("`{member}` changed.");
                let finding = R3.finding(severity, format!("{pointer}/{member}"), values, message);
                found.push(finding.help("offer the other form under a URI of its own"));
            }
        }
    }
}
