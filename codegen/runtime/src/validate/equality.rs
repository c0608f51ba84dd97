//! Equality of JSON values: as in JSON Schema, `1` and `1.0` are equal.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::numbers::as_integer;
use crate::schema::Literal;
use colibri_canonical::{NumberRule, canonical_json};

/// Returns whether `value` is the literal.
pub(super) fn is_literal(value: &Value, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Null, Literal::Null) => true,
        (Value::Bool(value), Literal::Boolean(literal)) => value == literal,
        (Value::Number(value), Literal::Integer(literal)) => as_integer(value) == Some(*literal),
        (Value::String(value), Literal::String(literal)) => value == literal,
        _ => false,
    }
}

/// Returns whether two values are equal, in any order of their keys and any form of their numbers.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        (left, right) => left == right,
    }
}

fn same_number(left: &Number, right: &Number) -> bool {
    if left.is_f64() == right.is_f64() { left == right } else { left.as_f64() == right.as_f64() }
}

/// Returns whether all items are distinct. Takes time in proportion to the number of items.
pub(super) fn all_distinct(items: &[Value]) -> bool {
    if items.len() < 2 {
        return true;
    }
    if items.iter().all(Value::is_string) {
        let mut seen = HashSet::with_capacity(items.len());
        return items.iter().filter_map(Value::as_str).all(|item| seen.insert(item));
    }
    let mut seen = HashSet::with_capacity(items.len());
    // Equal values have one canonical text. A value without one is too deep for the wire to deliver.
    items
        .iter()
        .all(|item| seen.insert(canonical_json(item, NumberRule::Wire).unwrap_or_else(|_| item.to_string())))
}
