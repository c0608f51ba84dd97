//! Schemas as clients and the lock see them: JSON Schema 2020-12, written out in full, keywords in
//! one fixed order, properties in declared order.

use serde_json::{Map, Value, json};

use super::Shared;
use super::schema::{Kind, Schema, StringBounds};
use crate::catalogue::{Envelope, ErrorPattern, Tool};

/// The published form of a schema.
#[must_use]
pub fn publish(schema: &Schema, shared: &Shared) -> Value {
    let schema = shared.resolve(schema);
    let mut out = Map::new();
    let type_name = match &schema.kind {
        Kind::Any | Kind::Union { .. } | Kind::Ref(_) => None,
        Kind::Null => Some("null"),
        Kind::Boolean => Some("boolean"),
        Kind::Integer(_) => Some("integer"),
        Kind::Number(_) => Some("number"),
        Kind::String(_) => Some("string"),
        Kind::Enum { values, .. } => common_type(values),
        Kind::Array { .. } => Some("array"),
        Kind::Object { .. } | Kind::Record { .. } => Some("object"),
    };
    if let Some(name) = type_name {
        let written = if schema.nullable { json!([name, "null"]) } else { json!(name) };
        out.insert("type".into(), written);
    }
    if let Some(text) = &schema.description {
        out.insert("description".into(), json!(text));
    }
    shape(&schema, shared, &mut out);
    if let Some(default) = &schema.default {
        out.insert("default".into(), default.clone());
    }
    Value::Object(out)
}

/// The published schema of a tool's structured content: one object that success and failure both satisfy
/// (catalogue#published-schemas), because clients check either against it. Without an envelope it is the payload as written; a
/// failure has no structured content then.
#[must_use]
pub fn envelope(payload: Value, tool: &Tool) -> Value {
    if tool.envelope == Envelope::None {
        return payload;
    }
    let payload = without_descriptions(&payload);
    let text = json!({"type": "string"});
    // An error of the chain's suggests no call.
    let of_chain = json!({"type": "object", "properties": {"remedy": text}});
    // Every context pays for the list of tools, so a suggested call is not described further.
    let next = json!({"type": "array", "items": {"type": "object"}});
    let (data, details) = match tool.pattern {
        ErrorPattern::C => {
            return json!({
                "type": "object",
                "properties": {
                    "ok": {"type": "boolean"},
                    "data": payload,
                    "error": {
                        "type": "object",
                        "properties": {"code": text, "message": text, "remedy": text, "next": next},
                        "required": ["code", "message"],
                    },
                },
                "required": ["ok"],
            });
        }
        ErrorPattern::A => {
            (payload, json!({"type": "object", "properties": {"code": text, "remedy": text, "next": next}}))
        }
        ErrorPattern::B => (
            json!({"anyOf": [payload, {
                "type": "object",
                "properties": {
                    "ok": {"const": false},
                    "error": {
                        "type": "object",
                        "properties": {"code": text, "message": text, "remedy": text, "next": next},
                        "required": ["code", "message"],
                    },
                },
                "required": ["ok", "error"],
            }]}),
            of_chain,
        ),
    };
    json!({
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "data": data,
            "error": {
                "type": "object",
                "properties": {"code": text, "message": text, "details": details},
                "required": ["code", "message"],
            },
        },
        "required": ["ok"],
    })
}

/// A schema without its descriptions. Hosts check replies by it and models choose tools by their inputs, so in a list of tools
/// the descriptions of outputs would cost every context; the reference has them.
fn without_descriptions(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let kept = keywords.iter().filter(|(keyword, _)| *keyword != "description");
            let inner = kept.map(|(keyword, value)| (keyword.clone(), inside(keyword, value)));
            Value::Object(inner.collect())
        }
        Value::Array(schemas) => schemas.iter().map(without_descriptions).collect(),
        scalar => scalar.clone(),
    }
}

/// The value of a keyword, with the schemas in it bare.
fn inside(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        // A property may be named like the keyword.
        ("properties", Value::Object(members)) => Value::Object(
            members.iter().map(|(name, schema)| (name.clone(), without_descriptions(schema))).collect(),
        ),
        // Values of users, not schemas.
        ("default" | "const" | "enum", _) => value.clone(),
        _ => without_descriptions(value),
    }
}

fn shape(schema: &Schema, shared: &Shared, out: &mut Map<String, Value>) {
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            out.insert(key.to_owned(), value);
        }
    };
    match &schema.kind {
        Kind::Any | Kind::Null | Kind::Boolean | Kind::Ref(_) => {}
        Kind::Integer(bounds) => {
            put("minimum", bounds.min.map(Value::from));
            put("maximum", bounds.max.map(Value::from));
            put("multipleOf", bounds.multiple_of.map(Value::from));
        }
        Kind::Number(bounds) => {
            let key = |inclusive, yes, no| if inclusive { yes } else { no };
            if let Some((value, inclusive)) = &bounds.min {
                put(key(*inclusive, "minimum", "exclusiveMinimum"), Some(json!(value)));
            }
            if let Some((value, inclusive)) = &bounds.max {
                put(key(*inclusive, "maximum", "exclusiveMaximum"), Some(json!(value)));
            }
        }
        Kind::String(bounds) => out.extend(string(bounds)),
        Kind::Enum { values, constant: true } if !schema.nullable => put("const", values.first().cloned()),
        Kind::Enum { values, .. } => {
            let null = schema.nullable.then_some(Value::Null);
            put("enum", Some(values.iter().cloned().chain(null).collect()));
        }
        Kind::Array { items, min, max, unique } => {
            put("items", (items.kind != Kind::Any).then(|| publish(items, shared)));
            put("minItems", min.map(Value::from));
            put("maxItems", max.map(Value::from));
            put("uniqueItems", unique.then_some(json!(true)));
        }
        Kind::Object { properties, closed } => {
            let members = properties.iter().map(|property| {
                let published = publish(&property.schema, shared);
                (property.name.clone(), published)
            });
            put("properties", Some(Value::Object(members.collect())));
            let required: Vec<&str> =
                properties.iter().filter(|property| property.required).map(|p| p.name.as_str()).collect();
            put("required", (!required.is_empty()).then(|| json!(required)));
            put("additionalProperties", closed.then_some(json!(false)));
        }
        Kind::Record { keys, values, min, max } => {
            put("propertyNames", keys.as_ref().map(|keys| Value::Object(string(keys))));
            put("additionalProperties", Some(publish(values, shared)));
            put("minProperties", min.map(Value::from));
            put("maxProperties", max.map(Value::from));
        }
        Kind::Union { branches, exclusive } => {
            let null = schema.nullable.then(|| json!({"type": "null"}));
            let branches = branches.iter().map(|branch| publish(branch, shared)).chain(null);
            put(if *exclusive { "oneOf" } else { "anyOf" }, Some(branches.collect()));
        }
    }
}

fn string(bounds: &StringBounds) -> Map<String, Value> {
    let members = [
        ("minLength", bounds.min.map(Value::from)),
        ("maxLength", bounds.max.map(Value::from)),
        ("pattern", bounds.pattern.clone().map(Value::from)),
    ];
    members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The JSON type that all literals share.
fn common_type(values: &[Value]) -> Option<&'static str> {
    let name = |value: &Value| match value {
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        _ => "integer",
    };
    let first = values.first().map(name)?;
    values.iter().all(|value| name(value) == first).then_some(first)
}
