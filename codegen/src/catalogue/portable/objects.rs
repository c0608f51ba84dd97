//! Objects: each says what else it may hold.

use serde_json::{Value, json};

use super::vocabulary::{ANNOTATIONS, is_type};
use crate::catalogue::SchemaValue;

/// Keywords that only an object or a list can have.
const IMPLIED: [(&str, &str); 7] = [
    ("properties", "object"),
    ("required", "object"),
    ("additionalProperties", "object"),
    ("propertyNames", "object"),
    ("items", "array"),
    ("minItems", "array"),
    ("maxItems", "array"),
];

/// Adds the type that the other keywords are about.
pub(super) fn imply_type(schema: &mut SchemaValue) {
    if ["type", "anyOf", "oneOf", "enum", "const", "$ref"].iter().any(|keyword| schema.contains_key(*keyword))
    {
        return;
    }
    if let Some((_, name)) = IMPLIED.iter().find(|(keyword, _)| schema.contains_key(*keyword)) {
        schema.insert("type".to_owned(), json!(name));
    }
}

/// An object with declared properties, or a map.
pub(super) fn plain(schema: &mut SchemaValue) {
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    if !closed {
        declare_required(schema);
    }
    let declared = schema.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => {
            schema.entry("properties").or_insert_with(|| json!({}));
        }
        Some(Value::Object(values)) if !declared || !values.is_empty() => {}
        _ if declared => {
            schema.insert("additionalProperties".to_owned(), json!(true));
        }
        _ => {
            schema.insert("additionalProperties".to_owned(), json!({}));
        }
    }
    if !declared && !closed {
        schema.shift_remove("properties");
    }
    without_repeats(schema);
    keys(schema);
    without_effect(schema);
}

/// The object at the root of a tool's input or output: its type is a struct, also if nothing is declared.
pub(super) fn of_root(schema: &mut SchemaValue) {
    let object = schema.get("type").is_some_and(|name| is_type(name, "object"));
    let any =
        schema.get("additionalProperties").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty);
    if object && any {
        schema.insert("additionalProperties".to_owned(), json!(true));
        schema.entry("properties").or_insert_with(|| json!({}));
    }
}

/// Declares what is required and not described: it may be any value.
fn declare_required(schema: &mut SchemaValue) {
    let Some(Value::Array(required)) = schema.get("required").cloned() else { return };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    for name in required.iter().filter_map(Value::as_str) {
        properties.entry(name).or_insert_with(|| json!({}));
    }
}

fn without_repeats(schema: &mut SchemaValue) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        let mut seen = Vec::new();
        required.retain(|name| {
            !seen.contains(name) && {
                seen.push(name.clone());
                true
            }
        });
    }
}

/// Every key is a string.
fn keys(schema: &mut SchemaValue) {
    let Some(Value::Object(names)) = schema.get_mut("propertyNames") else { return };
    if names.get("type").is_some_and(|name| is_type(name, "string")) {
        names.shift_remove("type");
    }
    names.retain(|keyword, _| !ANNOTATIONS.contains(&keyword.as_str()) && keyword != "description");
    if names.is_empty() {
        schema.shift_remove("propertyNames");
    }
}

/// A required property is never absent, so its default has no effect.
fn without_effect(schema: &mut SchemaValue) {
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| required.iter().any(|one| one == *name)) {
        if let Some(property) = property.as_object_mut() {
            property.shift_remove("default");
        }
    }
}
