//! `unknown-keyword`: schemas keep to the subset of JSON Schema that every client and our own
//! generator understand. Clients drop a whole server for one odd schema.

use crate::catalogue::{ANNOTATIONS, suggest};
use crate::lint::schemas::Position;
use crate::lint::{Context, Report};

/// The subset, in the order the reference lists it.
pub const KEYWORDS: [&str; 27] = [
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "anyOf",
    "oneOf",
    "description",
    "default",
    "$ref",
    "x-message",
];
const BESIDE_REF: [&str; 3] = ["$ref", "description", "default"];
const FOR_KEYS: [&str; 3] = ["pattern", "minLength", "maxLength"];

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        for keyword in node.schema.keys().map(String::as_str) {
            let place = node.place.child(keyword);
            if !KEYWORDS.contains(&keyword) {
                let (reason, help) = match suggest::closest(keyword, KEYWORDS) {
                    Some(near) => ("", format!("write `{near}`")),
                    None if ANNOTATIONS.contains(&keyword) => ("", other_way(keyword).to_owned()),
                    None => (": the server could not check it", other_way(keyword).to_owned()),
                };
                report.key(&place, format!("unsupported schema keyword `{keyword}`{reason}"), help);
            } else if node.schema.contains_key("$ref") && !BESIDE_REF.contains(&keyword) {
                let help = "only `description` and `default` can; put the rest into the shared type";
                report.key(&place, format!("`{keyword}` cannot be combined with `$ref`"), help);
            } else if node.position == Position::MapKeys && !FOR_KEYS.contains(&keyword) {
                let help = "write only `pattern`, `minLength` and `maxLength` there";
                report.key(&place, format!("`{keyword}` cannot stand in `propertyNames`"), help);
            }
        }
    }
}

/// What to write instead of keywords that people reach for.
fn other_way(keyword: &str) -> &'static str {
    match keyword {
        "format" => "say it with `pattern`; clients disagree about formats",
        "nullable" => "write `type: [T, \"null\"]`",
        "allOf" => "write the members out in one schema",
        "title" => "say it in `description`; the name comes from the place",
        "$defs" | "definitions" | "$id" | "$anchor" => "name the schema in types.yaml and use `$ref`",
        "if" | "then" | "else" | "not" | "dependentRequired" | "dependentSchemas" => {
            "say it in the tool's `rules`, or check it in the handler and declare an error"
        }
        "patternProperties" => "write a map: `additionalProperties` with a schema and `propertyNames`",
        "examples" => "put examples under the tool's `examples`",
        _ => "leave it out, or say it in `description`",
    }
}
