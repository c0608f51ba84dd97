//! `property-names`: properties and error fields have names that every language takes.

use serde_json::Value;

use crate::catalogue::Place;
use crate::lint::pattern::{is_property_name, is_snake_case};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in context.schemas.nodes.iter().filter(|_| !context.is_open()) {
        let Some(Value::Object(properties)) = node.schema.get("properties") else { continue };
        for name in properties.keys().filter(|name| !is_property_name(name)) {
            refuse(&node.place.child("properties").child(name), name, report);
        }
    }
    for entry in context.catalogue.tools() {
        for (index, error) in entry.tool.errors.iter().enumerate() {
            let fields = entry.place.child("errors").child(index).child("fields");
            for name in error.fields.keys().filter(|name| !is_snake_case(name)) {
                let help = "write lower-case letters, digits and `_`, starting with a letter";
                report.key(&fields.child(name), format!("the error field `{name}` is not snake_case"), help);
            }
        }
    }
}

fn refuse(place: &Place, name: &str, report: &mut Report<'_>) {
    let help = "write snake_case; camelCase only where a contract has it";
    report.key(place, format!("the property `{name}` is not a plain name"), help);
}
