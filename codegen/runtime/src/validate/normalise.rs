//! Makes a valid value ready for decoding: inserts defaults and writes integers as integers.

use serde_json::{Map, Value};

use super::conforms;
use super::numbers::as_integer;
use crate::schema::{ObjectRule, Schema, Shape};

/// Normalises `value`, which has been found to fit `schema`.
pub(super) fn normalise(schema: &Schema, value: &mut Value) {
    match (&schema.shape, value) {
        // A number that fits an enum is one of its integers, because enums hold only integers as numbers.
        (Shape::Integer(_) | Shape::Enum(_), value @ Value::Number(_)) => to_integer(value),
        (Shape::Array(rule), Value::Array(items)) => {
            items.iter_mut().for_each(|item| normalise(&rule.items, item));
        }
        (Shape::Record(rule), Value::Object(members)) => {
            members.values_mut().for_each(|value| normalise(&rule.values, value));
        }
        (Shape::Object(rule), Value::Object(members)) => object(rule, members),
        (Shape::Union(rule), value) => {
            if let Some(branch) = rule.branches.iter().find(|branch| conforms(branch, value)) {
                normalise(branch, value);
            }
        }
        _ => {}
    }
}

fn to_integer(value: &mut Value) {
    if let Value::Number(number) = value
        && number.is_f64()
        && let Some(integer) = as_integer(number)
    {
        *value = Value::from(integer);
    }
}

fn object(rule: &ObjectRule, members: &mut Map<String, Value>) {
    let lacks_default = rule
        .properties
        .iter()
        .any(|property| property.default.is_some() && super::member(members, property.name).is_none());
    for (name, value) in members.iter_mut() {
        if let Some(property) = rule.properties.iter().find(|property| property.name == name) {
            normalise(&property.schema, value);
        }
    }
    if lacks_default {
        put_defaults(rule, members);
    }
}

/// Rebuilds the object in declared order, so that each default is at its declared place. Undeclared keys follow in
/// their own order.
fn put_defaults(rule: &ObjectRule, members: &mut Map<String, Value>) {
    let room = members.len() + rule.properties.len();
    let mut received: Vec<_> = std::mem::replace(members, Map::with_capacity(room)).into_iter().collect();
    for property in rule.properties {
        if let Some(place) = received.iter().position(|(name, _)| name == property.name) {
            let (name, value) = received.remove(place);
            members.insert(name, value);
        } else if let Some(value) = property.default.and_then(|text| serde_json::from_str(text).ok()) {
            // The generator has parsed every default, so this inserts them all.
            members.insert(property.name.to_owned(), value);
        }
    }
    members.extend(received);
}
