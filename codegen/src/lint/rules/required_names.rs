//! `required-names`: `required` names declared properties, each once.

use serde_json::Value;

use crate::catalogue::suggest;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        let Some(Value::Array(names)) = node.schema.get("required") else { continue };
        let declared: Vec<&str> = match node.schema.get("properties") {
            Some(Value::Object(properties)) => properties.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        for (index, name) in names.iter().enumerate() {
            let Some(text) = name.as_str() else { continue };
            let place = node.place.child("required").child(index);
            if !declared.contains(&text) {
                let help = match suggest::closest(text, declared.iter().copied()) {
                    Some(near) => format!("write `{near}`"),
                    None => "declare it under `properties`, or remove it".to_owned(),
                };
                report.value(&place, format!("the required property `{text}` is not declared"), help);
            } else if names[..index].contains(name) {
                report.value(&place, format!("`{text}` is required twice"), "remove one of the two");
            }
        }
    }
}
