//! `catalogue.schema.json`: the JSON Schema of the YAML files, for editors.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Value, json};

use super::{DomainFile, Head, SharedTypes, ToolErrorEntry};

/// The schema as pretty-printed JSON with a final line feed. One document for all three kinds of
/// file; an editor that knows only the document takes a file that fits one of them.
#[must_use]
pub fn text() -> String {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let kinds = [
        kind::<Head>(&mut generator),
        kind::<SharedTypes>(&mut generator),
        kind::<DomainFile>(&mut generator),
    ];
    let document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Files of a tool catalogue",
        "description": "catalogue.yaml is a Head, types.yaml SharedTypes, tools/<domain>.yaml a DomainFile.",
        "anyOf": kinds,
        "$defs": generator.take_definitions(true),
    });
    // A value of maps with string keys always has a text.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn kind<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// The errors of a tool: each declared in its place, or the code of one that several tools share.
pub(super) fn declared_or_named(generator: &mut SchemaGenerator) -> Schema {
    let declared = generator.subschema_for::<ToolErrorEntry>();
    json_schema!({ "type": "array", "items": { "anyOf": [declared, { "type": "string" }] } })
}
