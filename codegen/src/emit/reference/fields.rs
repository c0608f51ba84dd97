//! Schemas as rows of a table: path, type and limits in words, default, meaning.

use super::markdown::{code, text};
use super::shown;
use crate::catalogue::Rule;
use crate::ir::Ir;
use crate::ir::schema::{Kind, NumberBounds, Schema, StringBounds};

/// One row a field, nested ones below their parents (`patch.title`, `tasks[].id`).
pub fn rows(schema: &Schema, ir: &Ir<'_>) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    below("", schema, ir, &mut rows);
    rows
}

fn below(path: &str, schema: &Schema, ir: &Ir<'_>, rows: &mut Vec<Vec<String>>) {
    match &ir.shared.resolve(schema).kind {
        Kind::Object { properties, .. } => {
            for property in properties {
                let schema = ir.shared.resolve(&property.schema);
                let dot = if path.is_empty() { "" } else { "." };
                let inner = format!("{path}{dot}{}", property.name);
                rows.push(vec![
                    code(&inner),
                    kind(&schema, ir),
                    if property.required { "yes" } else { "no" }.to_owned(),
                    schema.default.as_ref().map(|value| code(&value.to_string())).unwrap_or_default(),
                    schema.description.as_deref().map(text).unwrap_or_default(),
                ]);
                below(&inner, &schema, ir, rows);
            }
        }
        Kind::Array { items, .. } => below(&format!("{path}[]"), items, ir, rows),
        Kind::Record { values, .. } => below(&format!("{path}.*"), values, ir, rows),
        _ => {}
    }
}

/// A schema in words.
pub fn kind(schema: &Schema, ir: &Ir<'_>) -> String {
    let schema = ir.shared.resolve(schema);
    let words = match &schema.kind {
        Kind::Any => "any value".to_owned(),
        Kind::Null => return "null".to_owned(),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Integer(bounds) => {
            let step = bounds.multiple_of.map(|step| format!("a multiple of {step}"));
            joined("integer", [range(bounds.min, bounds.max, ""), step])
        }
        Kind::Number(bounds) => joined("number", number(bounds)),
        Kind::String(bounds) => joined("string", string(bounds)),
        Kind::Enum { values, .. } => values
            .iter()
            .map(|value| code(value.as_str().unwrap_or(&value.to_string())))
            .collect::<Vec<_>>()
            .join(", "),
        Kind::Array { items, min, max, unique } => {
            let unique = unique.then(|| "no two equal".to_owned());
            joined(&format!("list of {}", inner(items, ir)), [range(*min, *max, " items"), unique])
        }
        Kind::Object { .. } => "object".to_owned(),
        Kind::Record { values, min, max, keys } => {
            let keys = keys.iter().flat_map(string).flatten().map(|limit| format!("keys {limit}"));
            let limits = [range(*min, *max, " members")].into_iter().chain(keys.map(Some));
            joined(&format!("map to {}", inner(values, ir)), limits)
        }
        Kind::Union { .. } | Kind::Ref(_) => return shown(&schema, ir),
    };
    if schema.nullable { format!("{words}, or null") } else { words }
}

/// A schema in words inside other words; brackets keep its limits to itself.
fn inner(schema: &Schema, ir: &Ir<'_>) -> String {
    let words = kind(schema, ir);
    if words.contains(", ") { format!("({words})") } else { words }
}

/// A rule across fields in words.
pub fn rule(rule: &Rule) -> String {
    match rule {
        Rule::AliasEqual { field, alias, .. } => {
            format!("{} is an alias of {}; given both, they must be equal", code(alias), code(field))
        }
        Rule::Either { field, others, .. } => {
            let others = others.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
            format!("{} excludes {others}", code(field))
        }
        Rule::Needs { field, other, .. } => format!("{} needs {}", code(field), code(other)),
        Rule::MaxBytes { field, limit, .. } => format!("{} has at most {limit} bytes in UTF-8", code(field)),
        Rule::NoNul { .. } => "no string holds U+0000".to_owned(),
    }
}

fn joined(first: &str, limits: impl IntoIterator<Item = Option<String>>) -> String {
    limits.into_iter().flatten().fold(first.to_owned(), |words, limit| format!("{words}, {limit}"))
}

fn range<T: std::fmt::Display>(min: Option<T>, max: Option<T>, unit: &str) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} to {max}{unit}")),
        (Some(min), None) => Some(format!("at least {min}{unit}")),
        (None, Some(max)) => Some(format!("at most {max}{unit}")),
        (None, None) => None,
    }
}

fn number(bounds: &NumberBounds) -> [Option<String>; 2] {
    let lower = bounds
        .min
        .as_ref()
        .map(|(value, inclusive)| format!("{} {value}", if *inclusive { "at least" } else { "above" }));
    let upper = bounds
        .max
        .as_ref()
        .map(|(value, inclusive)| format!("{} {value}", if *inclusive { "at most" } else { "below" }));
    [lower, upper]
}

fn string(bounds: &StringBounds) -> [Option<String>; 2] {
    let pattern = bounds.pattern.as_ref().map(|pattern| format!("matching {}", code(pattern)));
    [range(bounds.min, bounds.max, " characters"), pattern]
}
