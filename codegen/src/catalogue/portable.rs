//! The schemas of a catalogue under `profile: open`, brought to the subset of JSON Schema that the compiler makes types and
//! checks of (catalogue#schema-subset).
//!
//! Clients see a schema as it was written. The compiler and the lint see its portable form, which accepts the same values:
//! annotations fall away, references within a schema are written out, a list of types becomes a union. What has no portable
//! form stays as it is, and the lint refuses it at its place.

mod objects;
mod unions;
mod vocabulary;

use std::cell::Cell;

use serde_json::{Map, Value, json};

use super::{Catalogue, Listed, SchemaValue};
use vocabulary::is_type;
pub(crate) use vocabulary::{ANNOTATIONS, OF_TYPE};

/// The most nodes of a schema with its references written out; the loader's limit for a file.
const MAX_NODES: usize = 20_000;
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Keeps the schemas of all tools as they are listed, and replaces those that the compiler reads.
pub(super) fn apply(catalogue: &mut Catalogue) {
    let types = catalogue.types.types.clone();
    for schema in catalogue.types.types.values_mut() {
        *schema = portable(schema, false);
    }
    for tool in catalogue.domains.iter_mut().flat_map(|domain| &mut domain.data.tools) {
        let (input, output) = (Value::Object(tool.input.clone()), Value::Object(tool.output.clone()));
        tool.input = root(&input);
        // Nothing said of the payload: it may be any value.
        tool.output = if tool.output.is_empty() { SchemaValue::new() } else { root(&output) };
        tool.listed = Some(Listed { input: listed(&input, &types), output: listed(&output, &types) });
        for field in tool.errors.iter_mut().flat_map(|error| error.fields.values_mut()) {
            *field = portable(field, false);
        }
    }
}

fn root(written: &Value) -> SchemaValue {
    match portable(written, true) {
        Value::Object(schema) => schema,
        _ => SchemaValue::new(),
    }
}

/// The schema as clients get it: shared types written out, without the texts of refusals.
fn listed(written: &Value, types: &Map<String, Value>) -> Value {
    Written { types, nodes: Cell::new(0) }.schema(written, 0)
}

/// Writes shared types out.
struct Written<'a> {
    types: &'a Map<String, Value>,
    nodes: Cell<usize>,
}

impl Written<'_> {
    fn schema(&self, written: &Value, depth: usize) -> Value {
        self.nodes.set(self.nodes.get() + 1);
        match written {
            Value::Object(members) => {
                let target =
                    members.get("$ref").and_then(Value::as_str).and_then(|name| self.types.get(name));
                // The lint refuses a type that holds itself, and types that are too large together.
                let ends = depth <= self.types.len() && self.nodes.get() <= MAX_NODES;
                if let (Some(Value::Object(target)), true) = (target, ends) {
                    let own = members.iter().filter(|(keyword, _)| *keyword != "$ref");
                    let mut merged = target.clone();
                    merged.extend(own.map(|(keyword, value)| (keyword.clone(), value.clone())));
                    return self.schema(&Value::Object(merged), depth + 1);
                }
                // A property may be named like the keyword.
                let kept =
                    members.iter().filter(|(keyword, value)| *keyword != "x-message" || value.is_object());
                kept.map(|(keyword, value)| (keyword.clone(), self.below(keyword, value, depth))).collect()
            }
            Value::Array(items) => items.iter().map(|item| self.schema(item, depth)).collect(),
            scalar => scalar.clone(),
        }
    }

    fn below(&self, keyword: &str, value: &Value, depth: usize) -> Value {
        match keyword {
            // Values of users, not schemas.
            "default" | "const" | "enum" | "examples" => value.clone(),
            _ => self.schema(value, depth),
        }
    }
}

/// The portable form of a whole schema. At the `root` of a tool's input or output an object stays one with properties,
/// because the generated type is a struct.
#[must_use]
pub(crate) fn portable(written: &Value, root: bool) -> Value {
    let scope = Scope { document: written, nodes: Cell::new(0) };
    let mut schema = scope.schema(written, &mut Vec::new());
    if let (true, Value::Object(schema)) = (root, &mut schema) {
        objects::of_root(schema);
    }
    schema
}

/// A schema and what its references point into.
struct Scope<'a> {
    document: &'a Value,
    nodes: Cell<usize>,
}

impl Scope<'_> {
    /// `open` holds the references being written out. The depth of the text is bounded by the loader.
    fn schema(&self, written: &Value, open: &mut Vec<String>) -> Value {
        self.nodes.set(self.nodes.get() + 1);
        let written = match written {
            Value::Bool(true) => return json!({}),
            Value::Object(written) => written,
            other => return other.clone(),
        };
        if let Some(whole) = self.reference(written, open) {
            return whole;
        }
        let plain = |keyword: &str| {
            ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-") && keyword != "x-message"
        };
        let mut schema: SchemaValue = written
            .iter()
            .filter(|(keyword, _)| !plain(keyword))
            .map(|(keyword, value)| (keyword.clone(), value.clone()))
            .collect();
        unions::of_types(&mut schema);
        unions::distribute(&mut schema);
        objects::imply_type(&mut schema);
        literals(&mut schema);
        without_unfit(&mut schema);
        bounds(&mut schema);
        if schema.get("type").is_some_and(is_object) {
            objects::plain(&mut schema);
        }
        if schema.get("type").is_some_and(|name| is_type(name, "array")) && !schema.contains_key("items") {
            schema.insert("items".to_owned(), json!({}));
        }
        self.inside(&mut schema, open);
        let mut schema = unions::single(schema);
        if let Some(schema) = schema.as_object_mut().filter(|schema| !has_rust_default(schema)) {
            schema.shift_remove("default");
        }
        schema
    }

    fn inside(&self, schema: &mut SchemaValue, open: &mut Vec<String>) {
        for (keyword, value) in schema.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(members)) => {
                    members.values_mut().for_each(|member| *member = self.schema(member, open));
                }
                ("items", value) => *value = self.schema(value, open),
                ("additionalProperties", value @ Value::Object(_)) => *value = self.schema(value, open),
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    branches.iter_mut().for_each(|branch| *branch = self.schema(branch, open));
                }
                _ => {}
            }
        }
    }

    /// The schema that a reference within the document leads to, with what its use says of meaning and default. `None` if
    /// there is no such reference or it cannot be written out.
    fn reference(&self, written: &SchemaValue, open: &mut Vec<String>) -> Option<Value> {
        let pointer = written.get("$ref")?.as_str()?.strip_prefix('#')?;
        let target = self.document.pointer(pointer)?;
        if self.nodes.get() > MAX_NODES || open.iter().any(|one| one == pointer) {
            return None;
        }
        open.push(pointer.to_owned());
        let mut whole = self.schema(target, open);
        open.pop();
        let own = written
            .iter()
            .filter(|(keyword, _)| *keyword != "$ref" && !ANNOTATIONS.contains(&keyword.as_str()));
        if let Value::Object(whole) = &mut whole {
            whole.extend(own.map(|(keyword, value)| (keyword.clone(), value.clone())));
        }
        Some(whole)
    }
}

fn is_object(written: &Value) -> bool {
    is_type(written, "object")
}

/// Adds the type that all values of an enum share.
fn literals(schema: &mut SchemaValue) {
    if schema.contains_key("type") {
        return;
    }
    let constant = schema.get("const").map(std::slice::from_ref);
    let Some(values) = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice).or(constant) else {
        return;
    };
    let name = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_i64() => Some("integer"),
        _ => None,
    };
    let shared = values
        .iter()
        .find_map(name)
        .filter(|shared| values.iter().all(|value| value.is_null() || name(value) == Some(shared)));
    if let Some(shared) = shared {
        let nullable = values.iter().any(Value::is_null);
        let written = if nullable { json!([shared, "null"]) } else { json!(shared) };
        schema.insert("type".to_owned(), written);
    }
}

/// Removes keywords that ask nothing of values of the schema's type, and the default of what must be there.
fn without_unfit(schema: &mut SchemaValue) {
    let Some(name) = schema.get("type").and_then(|name| name.as_str().or_else(|| name.get(0)?.as_str()))
    else {
        return;
    };
    let name = name.to_owned();
    schema.retain(|keyword, _| {
        let types = OF_TYPE.iter().find(|(known, _)| known == keyword).map(|(_, types)| *types);
        types.is_none_or(|types| {
            types.contains(&name.as_str()) || (keyword == "multipleOf" && name == "number")
        })
    });
}

/// Whether the default, if there is one, can be a value of the type that is made. To clients a default is a remark; the server takes one
/// where it can.
fn has_rust_default(schema: &SchemaValue) -> bool {
    let choice = schema.contains_key("anyOf") || schema.contains_key("oneOf");
    let scalar = |value: &Value| !value.is_object() && !value.is_array();
    match schema.get("default") {
        None => true,
        Some(_) if choice => false,
        Some(_) if schema.contains_key("enum") && !schema.contains_key("type") => false,
        Some(Value::Object(members)) => members.is_empty() && !schema.contains_key("properties"),
        Some(Value::Array(items)) => items.iter().all(scalar),
        Some(_) => true,
    }
}

/// Removes bounds of integers that no JSON reader passes: schema libraries write them for 64-bit types.
fn bounds(schema: &mut SchemaValue) {
    if !schema.get("type").is_some_and(|name| is_type(name, "integer")) {
        return;
    }
    for (keyword, sign) in
        [("minimum", -1.0), ("exclusiveMinimum", -1.0), ("maximum", 1.0), ("exclusiveMaximum", 1.0)]
    {
        let value = schema.get(keyword).and_then(Value::as_f64);
        if value.is_some_and(|value| value * sign >= MAX_SAFE_INTEGER) {
            schema.shift_remove(keyword);
        }
    }
}

#[cfg(test)]
mod tests;
