//! `enum-values`: `enum` and `const` hold scalars of the declared type, each once.

use serde_json::Value;

use crate::catalogue::Place;
use crate::lint::conforms::{has_type, same};
use crate::lint::schemas::{Node, type_of};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        if let Some(value) = node.schema.get("const") {
            literal(node, value, &node.place.child("const"), report);
        }
        let Some(Value::Array(values)) = node.schema.get("enum") else { continue };
        let place = node.place.child("enum");
        if values.is_empty() {
            report.key(&place, "the enum has no values", "list the allowed values");
        }
        for (index, value) in values.iter().enumerate() {
            literal(node, value, &place.child(index), report);
            if values[..index].iter().any(|earlier| same(earlier, value)) {
                let message = format!("the value `{}` stands here twice", text(value));
                report.value(&place.child(index), message, "remove one of the two");
            }
        }
    }
}

fn literal(node: &Node<'_>, value: &Value, place: &Place, report: &mut Report<'_>) {
    let whole = value.is_i64() || !value.is_number();
    if value.is_array() || value.is_object() || !whole {
        let help = "list strings, integers, booleans or null";
        return report.value(place, format!("`{value}` cannot be a value of an enum"), help);
    }
    let Some((name, nullable)) = type_of(node.schema) else { return };
    if !(has_type(value, name) || nullable && value.is_null()) {
        let message = format!("the value `{}` is not of the type `{name}`", text(value));
        report.value(place, message, "quote it if it is text, or change `type`");
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
