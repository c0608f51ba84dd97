//! `closed-object`: every object says what else it may hold, so that a slip in a key is refused.

use serde_json::Value;

use crate::lint::schemas::{Role, type_of};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        if !matches!(type_of(node.schema), Some(("object", _))) {
            continue;
        }
        let place = node.place.child("additionalProperties");
        match node.schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                if !node.schema.contains_key("properties") {
                    let help = "add `properties`; `properties: {}` if it is always empty";
                    report.value(&place, "the object declares no `properties`", help);
                }
            }
            Some(Value::Bool(true)) if node.role == Role::Output || context.is_open() => {}
            Some(Value::Bool(true)) => {
                let help = "write `false`, or a schema for the values; `true` is for outputs only";
                report.value(&place, "the object takes any key", help);
            }
            Some(Value::Object(_)) if node.schema.contains_key("properties") => {
                let help = "keep the properties and write `false`, or remove `properties` to make it a map";
                let message = "the object has both properties and a schema for other keys; no Rust type is made of that";
                report.key(&place, message, help);
            }
            Some(_) => {}
            None => {
                let message = "the object does not say whether it takes other keys";
                report.key(&node.place, message, "add `additionalProperties: false`");
            }
        }
    }
}
