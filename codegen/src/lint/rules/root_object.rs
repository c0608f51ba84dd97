//! `root-object`: inputs and outputs are objects without a choice at the root. Clients refuse root
//! unions, and the generated types need one struct.

use crate::catalogue::{Place, SchemaValue};
use crate::lint::schemas::{resolve, type_of};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        root(context, &entry.tool.input, &entry.place.child("input"), "input", report);
        if context.is_open() && entry.tool.output.is_empty() {
            continue;
        }
        root(context, &entry.tool.output, &entry.place.child("output"), "output", report);
    }
}

fn root(context: &Context<'_>, schema: &SchemaValue, place: &Place, what: &str, report: &mut Report<'_>) {
    // A reference that leads nowhere is another rule's.
    let Some(root) = resolve(context.catalogue, schema) else { return };
    if let Some(keyword) =
        ["anyOf", "oneOf", "enum", "const"].into_iter().find(|keyword| root.contains_key(*keyword))
    {
        let message = format!("the {what} is a choice: `{keyword}` at the root");
        return report.key(place, message, "write one object; put the choice into a property");
    }
    match type_of(root) {
        Some(("object", false)) => {}
        Some(("object", true)) => {
            report.key(place, format!("the {what} may be null"), "write `type: object`");
        }
        _ => report.key(
            place,
            format!("the {what} is not an object"),
            "write `type: object` with `properties`",
        ),
    }
    if root.get("additionalProperties").is_some_and(serde_json::Value::is_object) {
        let help = "declare its properties; put the map into one of them";
        report.key(place, format!("the {what} is a map"), help);
    }
}
