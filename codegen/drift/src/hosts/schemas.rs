//! Keywords of schemas.

use serde_json::Value;

use super::Place;
use crate::snapshot::{Snapshot, Tool};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Each schema inside of a schema with its pointer, itself first.
pub(super) fn inside<'a>(schema: &'a Value, pointer: &str, found: &mut Vec<(String, &'a Value)>) {
    let Value::Object(members) = schema else { return };
    found.push((pointer.to_owned(), schema));
    for (keyword, value) in members {
        let at = format!("{pointer}/{keyword}");
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, schema) in named {
                    inside(schema, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
                }
            }
            // What these hold is data, which may look like a schema.
            ("default" | "const" | "enum" | "examples", _) => {}
            (_, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    inside(item, &format!("{at}/{index}"), found);
                }
            }
            (_, Value::Object(_)) => inside(value, &at, found),
            _ => {}
        }
    }
}

/// Looks at every schema of every input.
fn in_inputs(state: &Snapshot, found: &mut Vec<Place>, detail: impl Fn(&Value) -> Option<String>) {
    for tool in &state.tools {
        let mut schemas = Vec::new();
        inside(&tool.input, "/input", &mut schemas);
        for (pointer, schema) in schemas {
            found.extend(detail(schema).map(|detail| place(tool, pointer, detail)));
        }
    }
}

fn place(tool: &Tool, pointer: impl Into<String>, detail: impl Into<String>) -> Place {
    Place { tool: Some(tool.name.clone()), pointer: pointer.into(), detail: detail.into() }
}

/// The output schemas as clients see them. A lock has that of the payload alone.
fn outputs(state: &Snapshot) -> impl Iterator<Item = (&Tool, &Value)> {
    let listed = state.tools.iter().filter(|tool| tool.contract.is_none());
    listed.filter_map(|tool| Some((tool, tool.output.as_ref()?)))
}

pub fn root_union(state: &Snapshot, found: &mut Vec<Place>) {
    for tool in &state.tools {
        for keyword in ["oneOf", "anyOf", "allOf"].iter().filter(|keyword| tool.input.get(keyword).is_some())
        {
            found.push(place(tool, "/input", format!("the root has `{keyword}`")));
        }
    }
}

pub fn malformed(state: &Snapshot, found: &mut Vec<Place>) {
    for tool in &state.tools {
        for (pointer, should) in &tool.malformed {
            let detail = format!("it should be {should}");
            found.push(Place { tool: Some(tool.name.clone()), pointer: pointer.clone(), detail });
        }
    }
}

pub fn root_not_object(state: &Snapshot, found: &mut Vec<Place>) {
    for tool in state.tools.iter().filter(|tool| !tool.of_object) {
        found.push(place(tool, "/input/type", "the root does not say `type: object`"));
    }
}

pub fn array_without_items(state: &Snapshot, found: &mut Vec<Place>) {
    in_inputs(state, found, |schema| {
        let is_array = schema.get("type").is_some_and(|kind| kind == "array");
        (is_array && schema.get("items").is_none()).then(|| "the array has no `items`".to_owned())
    });
}

pub fn output_not_object(state: &Snapshot, found: &mut Vec<Place>) {
    for (tool, schema) in outputs(state) {
        if schema.get("type").is_none_or(|kind| kind != "object") {
            found.push(place(tool, "/output/type", "the root does not say `type: object`"));
        }
    }
}

pub fn output_dialect(state: &Snapshot, found: &mut Vec<Place>) {
    for (tool, schema) in outputs(state) {
        let dialect = schema.get("$schema").and_then(Value::as_str);
        if let Some(dialect) = dialect.filter(|dialect| dialect.trim_end_matches('#') != DIALECT) {
            found.push(place(tool, "/output/$schema", format!("`$schema` is {dialect}")));
        }
    }
}

pub fn input_dialect(state: &Snapshot, found: &mut Vec<Place>) {
    for tool in state.tools.iter().filter(|tool| tool.input.get("$schema").is_some()) {
        found.push(place(tool, "/input/$schema", "the schema names its dialect"));
    }
}

pub fn string_format(state: &Snapshot, found: &mut Vec<Place>) {
    in_inputs(state, found, |schema| {
        let format = schema.get("format").and_then(Value::as_str)?;
        let is_text = schema.get("type").is_some_and(|kind| kind == "string");
        (is_text && !["date-time", "enum"].contains(&format)).then(|| format!("`format` is `{format}`"))
    });
}

pub fn enum_not_text(state: &Snapshot, found: &mut Vec<Place>) {
    in_inputs(state, found, |schema| {
        let values = schema.get("enum").and_then(Value::as_array)?;
        let other = values.iter().find(|value| !value.is_string())?;
        Some(format!("`enum` has {other}"))
    });
}
