//! `unused-types`: every shared type is used by a tool, directly or through another type, and every shared error is named by one.

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
    let named: HashSet<&str> = context
        .catalogue
        .tools()
        .flat_map(|entry| &entry.tool.errors)
        .filter(|error| error.shared)
        .map(|error| error.code.as_str())
        .collect();
    for (index, error) in context.catalogue.types.errors.iter().enumerate() {
        let place = context.catalogue.shared_error_place(index).child("code");
        if context.catalogue.types.errors[..index].iter().any(|earlier| earlier.code == error.code) {
            let message = format!("the shared error `{}` is declared twice", error.code);
            report.value(&place, message, "remove one of the two");
        } else if !named.contains(error.code.as_str()) {
            let message = format!("no tool names the shared error `{}`", error.code);
            report.value(&place, message, "remove it, or write its code under a tool's `errors`");
        }
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
