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
            let help = match suggest::closest(name, types.keys().map(String::as_str)) {
                Some(near) => format!("write `{near}`"),
                None => "write the name of a type in types.yaml".to_owned(),
            };
            report.value(&place, format!("there is no shared type `{name}`"), help);
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
