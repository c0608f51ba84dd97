//! Which keywords say what.

use serde_json::Value;

/// Keywords that say nothing about which values fit.
pub(crate) const ANNOTATIONS: [&str; 13] = [
    "title",
    "format",
    "examples",
    "$schema",
    "$id",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "$defs",
    "definitions",
];
/// Keywords that ask something of one kind of value, and the types they go with.
pub(crate) const OF_TYPE: [(&str, &[&str]); 18] = [
    ("properties", &["object"]),
    ("required", &["object"]),
    ("additionalProperties", &["object"]),
    ("minProperties", &["object"]),
    ("maxProperties", &["object"]),
    ("propertyNames", &["object"]),
    ("items", &["array"]),
    ("minItems", &["array"]),
    ("maxItems", &["array"]),
    ("uniqueItems", &["array"]),
    ("minLength", &["string"]),
    ("maxLength", &["string"]),
    ("pattern", &["string"]),
    ("minimum", &["integer", "number"]),
    ("maximum", &["integer", "number"]),
    ("exclusiveMinimum", &["integer", "number"]),
    ("exclusiveMaximum", &["integer", "number"]),
    ("multipleOf", &["integer"]),
];

/// Whether the value of `type` is this type, or this or null.
pub(super) fn is_type(written: &Value, name: &str) -> bool {
    match written {
        Value::String(found) => found == name,
        Value::Array(found) => found.first().is_some_and(|first| first == name),
        _ => false,
    }
}
