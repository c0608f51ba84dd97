//! `schema-size`: a tool's schema, shared types written out in full, stays small. A few types that
//! each name the one before twice would double at every step.

use std::collections::HashMap;

use serde_json::Value;

use crate::catalogue::Catalogue;
use crate::lint::{Context, Report};

/// The most nodes of a schema written out in full.
pub const MAX_NODES: u64 = 20_000;

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let mut known = HashMap::new();
    for entry in context.catalogue.tools() {
        for (what, schema) in [("input", &entry.tool.input), ("output", &entry.tool.output)] {
            let size = schema
                .values()
                .fold(1, |sum: u64, part| sum.saturating_add(weigh(context.catalogue, part, &mut known, 0)))
                + reference(context.catalogue, schema.get("$ref"), &mut known, 0);
            if size > MAX_NODES {
                let message = format!("the {what} has more than {MAX_NODES} nodes when written out in full");
                report.key(&entry.place.child(what), message, "use fewer, flatter types");
            }
        }
    }
}

fn weigh(catalogue: &Catalogue, value: &Value, known: &mut HashMap<String, u64>, depth: usize) -> u64 {
    match value {
        Value::Array(items) => {
            items.iter().fold(1, |sum: u64, item| sum.saturating_add(weigh(catalogue, item, known, depth)))
        }
        Value::Object(members) => {
            let own = members
                .values()
                .fold(1, |sum: u64, member| sum.saturating_add(weigh(catalogue, member, known, depth)));
            own.saturating_add(reference(catalogue, members.get("$ref"), known, depth))
        }
        _ => 1,
    }
}

fn reference(
    catalogue: &Catalogue,
    name: Option<&Value>,
    known: &mut HashMap<String, u64>,
    depth: usize,
) -> u64 {
    let Some(name) = name.and_then(Value::as_str) else { return 0 };
    if let Some(size) = known.get(name) {
        return *size;
    }
    // Rings are another rule's; their size is of no interest here.
    let Some(target) = catalogue.types.types.get(name).filter(|_| depth <= catalogue.types.types.len())
    else {
        return 0;
    };
    known.insert(name.to_owned(), 0);
    let size = weigh(catalogue, target, known, depth + 1);
    known.insert(name.to_owned(), size);
    size
}
