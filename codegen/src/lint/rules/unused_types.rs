//! `unused-types`: every shared type is used by a tool, directly or through another type.

use std::collections::HashSet;

use serde_json::Value;

use crate::lint::schemas::Role;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let types = &context.catalogue.types.types;
    let mut used: HashSet<&str> = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for node in context.schemas.nodes.iter().filter(|node| node.role != Role::Type) {
        open.extend(node.schema.get("$ref").and_then(Value::as_str));
    }
    while let Some(name) = open.pop() {
        if used.insert(name)
            && let Some(target) = types.get(name)
        {
            mentions(target, &mut open);
        }
    }
    for name in types.keys().filter(|name| !used.contains(name.as_str())) {
        let place = context.catalogue.type_place(name);
        report.key(&place, format!("no tool uses the shared type `{name}`"), "remove it, or refer to it");
    }
}

fn mentions<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| mentions(item, found)),
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| mentions(member, found));
        }
        _ => {}
    }
}
