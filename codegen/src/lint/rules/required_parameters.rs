//! `required-parameters`: a model that must fill in a parameter reads what it is, and of an id, which tool returns it.

use serde_json::Value;

use crate::catalogue::{Place, Runs, ToolEntry};
use crate::lint::schemas::{Position, Role, is_required, resolve};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        let required = node.position == Position::Property { required: true };
        if node.role != Role::Input || !required {
            continue;
        }
        let named =
            resolve(context.catalogue, node.schema).is_some_and(|schema| schema.contains_key("description"));
        if !node.schema.contains_key("description") && !named {
            let message = "a required parameter has no description";
            report.key(&node.place, message, "say what it is and where its value comes from");
        }
    }
    for entry in context.catalogue.tools().filter(|entry| entry.tool.runs != Runs::Operator) {
        ids(context, &entry, report);
    }
}

/// Checks the ids among a tool's required arguments.
fn ids(context: &Context<'_>, entry: &ToolEntry<'_>, report: &mut Report<'_>) {
    let input = &entry.tool.input;
    let Some(Value::Object(properties)) = input.get("properties") else { return };
    let own = &context.catalogue.head.lint.ids_of_callers;
    let required = properties.iter().filter(|(name, _)| is_required(input, name));
    for (name, schema) in required.filter(|(name, _)| is_id(name) && !own.contains(name)) {
        let Some(Value::String(text)) = schema.get("description") else { continue };
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if !words.any(|word| context.catalogue.tools().any(|other| other.tool.name == word)) {
            let place: Place =
                entry.place.child("input").child("properties").child(name).child("description");
            let message = format!("the description of `{name}` names no tool that returns it");
            let help = "name the tool, or list the id in `lint.ids_of_callers` of catalogue.yaml if the caller makes it up";
            report.value(&place, message, help);
        }
    }
}

fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("_id")
}
