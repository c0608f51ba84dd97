//! `keyword-value`: each keyword's value has the shape the keyword asks for.

use serde_json::Value;

use crate::catalogue::suggest;
use crate::lint::schemas::type_of;
use crate::lint::{Context, Report};

const TYPES: [&str; 7] = ["object", "array", "string", "integer", "number", "boolean", "null"];

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for place in &context.schemas.misshapen {
        report.value(place, "a schema is missing here", "write a mapping of keywords, at least `type`");
    }
    for node in &context.schemas.nodes {
        for (keyword, value) in node.schema {
            let place = node.place.child(keyword);
            if keyword == "type" {
                if let Err((message, help)) = check_type(node.schema, value) {
                    report.value(&place, message, help);
                }
            } else if let Some(wanted) = unfit(keyword, value) {
                report.value(
                    &place,
                    format!("the value of `{keyword}` does not fit"),
                    format!("write {wanted}"),
                );
            }
        }
    }
}

/// What the keyword wants, if the value is not that.
fn unfit(keyword: &str, value: &Value) -> Option<&'static str> {
    let (fits, wanted) = match keyword {
        "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => (
            value.as_u64().is_some_and(|count| u32::try_from(count).is_ok()),
            "a whole number from 0 to 4294967295",
        ),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => (value.is_number(), "a number"),
        "multipleOf" => (value.as_f64().is_some_and(|step| step > 0.0), "a number above 0"),
        "uniqueItems" => (value.is_boolean(), "`true` or `false`"),
        "pattern" | "description" | "x-message" | "$ref" => (value.is_string(), "a string"),
        "properties" => (value.is_object(), "a mapping from names to schemas"),
        "required" => (is_string_list(value), "a list of property names"),
        "enum" => (value.is_array(), "a list of values"),
        "anyOf" | "oneOf" => {
            (value.as_array().is_some_and(|branches| branches.len() > 1), "a list of at least two schemas")
        }
        _ => return None,
    };
    (!fits).then_some(wanted)
}

fn is_string_list(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

fn check_type(schema: &crate::catalogue::SchemaValue, value: &Value) -> Result<(), (String, String)> {
    if let Some((name, _)) = type_of(schema) {
        if TYPES.contains(&name) {
            return Ok(());
        }
        let help = match suggest::closest(name, TYPES) {
            Some(near) => format!("write `{near}`"),
            None => format!("write {}", suggest::alternatives(&TYPES)),
        };
        return Err((format!("there is no type `{name}`"), help));
    }
    let help = "write one type, or `[T, \"null\"]` if null is allowed too; for other choices use `anyOf`";
    Err((format!("the type `{value}` is not supported"), help.to_owned()))
}
