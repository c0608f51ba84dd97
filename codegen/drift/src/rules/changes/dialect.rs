//! What a text may mean elsewhere: keywords that follow where the validator stands, and keywords of another dialect.

use serde_json::{Map, Value};

use crate::schema::text::ANNOTATIONS;

/// Keywords that some dialects do not know, or read in another way.
const DIALECTS: [&str; 9] = [
    "prefixItems",
    "additionalItems",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "minContains",
    "maxContains",
];

/// Returns why two schemas may differ although their comparison finds the same; `None` if they cannot.
pub(super) fn other_meaning(old: &Value, new: &Value) -> Option<String> {
    let found = |test: &dyn Fn(&Map<String, Value>) -> Option<String>| {
        [old, new].into_iter().find_map(|root| first(root, test))
    };
    let led = |schema: &Map<String, Value>| {
        let keyword =
            ["$dynamicRef", "$recursiveRef"].into_iter().find(|keyword| schema.contains_key(*keyword))?;
        Some(format!("what `{keyword}` leads to is not followed"))
    };
    let based = |root: &Value| {
        let below = |schema: &Map<String, Value>| {
            let is_root = root.as_object().is_some_and(|root| std::ptr::eq(root, schema));
            (!is_root && schema.get("$id").is_some_and(Value::is_string))
                .then(|| "references below an `$id` of their own are not followed".to_owned())
        };
        first(root, &below)
    };
    found(&led).or_else(|| based(old)).or_else(|| based(new)).or_else(|| {
        let read = |schema: &Map<String, Value>| {
            let is_list = schema.get("items").is_some_and(Value::is_array);
            let beside = schema.contains_key("$ref")
                && schema.keys().any(|keyword| keyword != "$ref" && !ANNOTATIONS.contains(&keyword.as_str()));
            let other = DIALECTS.into_iter().find(|keyword| schema.contains_key(*keyword));
            let keyword = other.or(is_list.then_some("items")).or(beside.then_some("$ref"))?;
            Some(format!("`{keyword}` may mean something else with another `$schema`"))
        };
        (dialect(old) != dialect(new)).then(|| found(&read)).flatten()
    })
}

/// The first object in a schema of which a test says something.
fn first(value: &Value, test: &dyn Fn(&Map<String, Value>) -> Option<String>) -> Option<String> {
    match value {
        Value::Object(members) => {
            test(members).or_else(|| members.values().find_map(|member| first(member, test)))
        }
        Value::Array(items) => items.iter().find_map(|item| first(item, test)),
        _ => None,
    }
}

/// Which dialect a schema is written in: up to draft 7, 2019-09, or the newest, which MCP takes if none is named.
fn dialect(schema: &Value) -> &'static str {
    let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    match named {
        _ if named.contains("/draft-0") => "draft-07",
        _ if named.contains("2019-09") => "2019-09",
        _ => "2020-12",
    }
}
