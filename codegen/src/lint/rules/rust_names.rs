//! `rust-names`: names that are distinct in the catalogue stay distinct when they become Rust
//! names, where case and separators fall away.

use std::collections::HashMap;

use serde_json::Value;

use crate::catalogue::Place;
use crate::lint::schemas::type_of;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    types(context, report);
    for entry in context.catalogue.tools() {
        let mut codes = Names::new("error codes");
        for (index, error) in entry.tool.errors.iter().enumerate() {
            let variant = error.code.strip_prefix("ERR_").unwrap_or(&error.code);
            codes.add(
                &error.code,
                variant,
                entry.place.child("errors").child(index).child("code"),
                false,
                report,
            );
        }
    }
    for node in &context.schemas.nodes {
        if let Some(Value::Object(properties)) = node.schema.get("properties") {
            let mut names = Names::new("properties");
            for name in properties.keys() {
                names.add(name, name, node.place.child("properties").child(name), true, report);
            }
        }
        if let (Some(("string", _)), Some(Value::Array(values))) =
            (type_of(node.schema), node.schema.get("enum"))
        {
            let mut names = Names::new("values");
            for (index, value) in values.iter().enumerate() {
                if let Some(value) = value.as_str() {
                    names.add(value, value, node.place.child("enum").child(index), false, report);
                }
            }
        }
    }
}

/// Shared types, and the types made for each tool.
fn types(context: &Context<'_>, report: &mut Report<'_>) {
    let mut names = Names::new("types");
    for name in context.catalogue.types.types.keys() {
        names.add(name, name, context.catalogue.type_place(name), true, report);
    }
    for (index, error) in context.catalogue.types.errors.iter().enumerate() {
        names.add(
            &error.code,
            &error.code,
            context.catalogue.shared_error_place(index).child("code"),
            false,
            report,
        );
    }
    for entry in context.catalogue.tools() {
        for suffix in ["Input", "Output", "Error"] {
            let made = format!("{}{suffix}", entry.tool.name);
            let shown = format!("{}'s {suffix}", entry.tool.name);
            names.add(&shown, &made, entry.place.child("name"), false, report);
        }
    }
}

/// Names of one kind, by what is left of them in Rust.
struct Names<'a> {
    what: &'a str,
    seen: HashMap<String, String>,
}

impl<'a> Names<'a> {
    fn new(what: &'a str) -> Self {
        Self { what, seen: HashMap::new() }
    }

    /// `name` is shown, `made` is what the Rust name is made of. Equal names are other rules'.
    fn add(&mut self, name: &str, made: &str, place: Place, on_key: bool, report: &mut Report<'_>) {
        let rust: String =
            made.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let Some(other) = self.seen.insert(rust, name.to_owned()) else { return };
        if other == name {
            return;
        }
        let message = format!("the {} `{other}` and `{name}` become one name in Rust", self.what);
        let help = "rename one so that they differ in more than case and separators";
        if on_key {
            report.key(&place, message, help);
        } else {
            report.value(&place, message, help);
        }
    }
}
