//! Unions: the choice stands alone, and each branch says all of it.

use serde_json::{Map, Value, json};

use crate::catalogue::SchemaValue;

/// What a union says of the property that it stands at, beside its branches.
const OF_THE_WHOLE: [&str; 3] = ["description", "default", "x-message"];

/// One type, one type or null, or a union of what each of the types asks.
pub(super) fn of_types(schema: &mut SchemaValue) {
    let Some(Value::Array(names)) = schema.get("type").cloned() else { return };
    let (nulls, named): (Vec<Value>, Vec<Value>) = names.into_iter().partition(|name| name == "null");
    let written = match (named.as_slice(), nulls.is_empty()) {
        ([], _) => json!("null"),
        ([one], true) => one.clone(),
        ([one], false) => json!([one, "null"]),
        // Where there is a choice too, it would have to be made twice.
        _ if schema.contains_key("anyOf") || schema.contains_key("oneOf") => return,
        _ => {
            let base = without_whole(schema);
            let branch = |name: &Value| {
                let mut branch = base.clone();
                branch.insert("type".to_owned(), name.clone());
                Value::Object(branch)
            };
            let branches: Vec<Value> = named.iter().chain(nulls.first()).map(branch).collect();
            schema.retain(|keyword, _| OF_THE_WHOLE.contains(&keyword.as_str()));
            schema.insert("anyOf".to_owned(), Value::Array(branches));
            return;
        }
    };
    schema.insert("type".to_owned(), written);
}

/// What is written next to a choice is asked in each of its branches.
pub(super) fn distribute(schema: &mut SchemaValue) {
    let keywords: Vec<&str> =
        ["anyOf", "oneOf"].into_iter().filter(|keyword| schema.contains_key(*keyword)).collect();
    let [keyword] = keywords[..] else { return };
    let mut base = without_whole(schema);
    base.shift_remove(keyword);
    if base.is_empty() || base.contains_key("$ref") {
        return;
    }
    let Some(Value::Array(branches)) = schema.get(keyword) else { return };
    let merged: Option<Vec<Value>> =
        branches.iter().map(|branch| Some(Value::Object(both(&base, branch.as_object()?)?))).collect();
    if let Some(merged) = merged {
        schema.retain(|keyword, _| OF_THE_WHOLE.contains(&keyword.as_str()));
        schema.insert(keyword.to_owned(), Value::Array(merged));
    }
}

/// A choice of one branch is that branch.
pub(super) fn single(mut schema: SchemaValue) -> Value {
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.get(keyword)
            && let [Value::Object(only)] = branches.as_slice()
        {
            let mut only = only.clone();
            schema.shift_remove(keyword);
            only.extend(schema);
            return Value::Object(only);
        }
    }
    Value::Object(schema)
}

fn without_whole(schema: &SchemaValue) -> SchemaValue {
    let kept = schema.iter().filter(|(keyword, _)| !OF_THE_WHOLE.contains(&keyword.as_str()));
    kept.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}

/// One schema for what both ask; `None` if that takes more than putting their keywords together.
fn both(base: &SchemaValue, branch: &SchemaValue) -> Option<SchemaValue> {
    if branch.contains_key("$ref") {
        return None;
    }
    let mut merged = branch.clone();
    // `additionalProperties: false` forbids what the same schema does not declare.
    let closed = |one: &SchemaValue| one.get("additionalProperties") == Some(&Value::Bool(false));
    let declares = |one: &SchemaValue| one.contains_key("properties");
    if closed(base) && declares(branch) || closed(branch) && declares(base) {
        return None;
    }
    for (keyword, value) in base {
        match (keyword.as_str(), merged.get_mut(keyword)) {
            (_, None) => {
                merged.insert(keyword.clone(), value.clone());
            }
            ("required", Some(Value::Array(own))) => own.extend(value.as_array()?.iter().cloned()),
            ("properties", Some(Value::Object(own))) => disjoint(own, value.as_object()?)?,
            (_, Some(own)) if own == value => {}
            _ => return None,
        }
    }
    Some(merged)
}

fn disjoint(own: &mut Map<String, Value>, base: &Map<String, Value>) -> Option<()> {
    for (name, schema) in base {
        match own.get(name) {
            None => own.insert(name.clone(), schema.clone()),
            Some(same) if same == schema => None,
            Some(_) => return None,
        };
    }
    Some(())
}
