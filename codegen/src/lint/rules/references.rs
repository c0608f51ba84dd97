//! `references`: `$ref` names a shared type, and no type holds itself: what is published is
//! written out in full.

use std::collections::HashMap;

use serde_json::Value;

use crate::catalogue::{Place, suggest};
use crate::lint::schemas::Role;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let types = &context.catalogue.types.types;
    // Which types a type names, with the place of each mention.
    let mut uses: HashMap<&str, Vec<(&str, Place)>> = HashMap::new();
    for node in &context.schemas.nodes {
        let Some(Value::String(name)) = node.schema.get("$ref") else { continue };
        let place = node.place.child("$ref");
        if !types.contains_key(name) {
            let (message, help) = unknown(name, types.keys().map(String::as_str), context.is_open());
            report.value(&place, message, help);
        } else if node.role == Role::Type
            && let Some(user) = types.keys().find(|user| {
                let root = context.catalogue.type_place(user).pointer;
                place.pointer.strip_prefix(&root).is_some_and(|rest| rest.starts_with('/'))
            })
        {
            uses.entry(user).or_default().push((name, place));
        }
    }
    cycles(types.keys().map(String::as_str), &uses, report);
}

/// What is wrong with a reference that is not a type's name, and what to write.
fn unknown<'a>(name: &str, types: impl Iterator<Item = &'a str> + Clone, open: bool) -> (String, String) {
    let last = name.rsplit(['/', '#']).next().unwrap_or_default();
    let place = name.contains(['#', '/']);
    if place && types.clone().any(|known| known == last) {
        return (
            format!("`$ref` takes the name of a shared type, not a path: `{name}`"),
            format!("write `$ref: {last}`"),
        );
    }
    if open && name.starts_with('#') {
        // The portable form writes out every other reference within a schema.
        let help = "correct the path, or break the ring: refer to the inner value by an id";
        return (
            format!("`{name}` leads nowhere in this schema or back to itself; no Rust type is made of that"),
            help.to_owned(),
        );
    }
    let help = match suggest::closest(name, types) {
        Some(near) => format!("write `{near}`"),
        None => "write the name of a type in types.yaml".to_owned(),
    };
    (format!("there is no shared type `{name}`"), help)
}

/// Depth-first search; each mention that leads back to a type still open is a finding.
fn cycles<'a>(
    names: impl Iterator<Item = &'a str>,
    uses: &HashMap<&'a str, Vec<(&'a str, Place)>>,
    report: &mut Report<'_>,
) {
    let mut done: Vec<&str> = Vec::new();
    for start in names {
        // Open types, each with the number of its mentions already followed.
        let mut open: Vec<(&str, usize)> = vec![(start, 0)];
        while let Some((name, next)) = open.last().copied() {
            let mention = uses.get(name).and_then(|mentions| mentions.get(next));
            let Some((target, place)) = mention.filter(|_| !done.contains(&name)) else {
                done.push(name);
                open.pop();
                continue;
            };
            if let Some(last) = open.last_mut() {
                last.1 += 1;
            }
            match open.iter().position(|(name, _)| name == target) {
                None => open.push((target, 0)),
                Some(first) => {
                    let mut ring: Vec<&str> = open[first..].iter().map(|(name, _)| *name).collect();
                    ring.push(target);
                    let message = format!("the type `{target}` holds itself: {}", ring.join(" -> "));
                    report.value(place, message, "break the ring: refer to the inner value by an id");
                }
            }
        }
    }
}
