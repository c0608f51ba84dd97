//! `hidden-characters`: texts that people and models read hold nothing they cannot see. Invisible
//! characters are a way to smuggle instructions into descriptions.

use colibri_visible::{characters, is_hidden};
use serde::Serialize;
use serde_json::Value;

use crate::catalogue::Place;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    // The model written back has the shape of the files, so pointers into it lead to the texts.
    let open = context.is_open();
    walk(&written(&context.catalogue.head), &context.catalogue.head_place(), open, report);
    if let Some(file) = context.catalogue.types_file {
        walk(&written(&context.catalogue.types), &Place { file, pointer: String::new() }, open, report);
    }
    for (index, entry) in context.catalogue.domains.iter().enumerate() {
        walk(&written(&entry.data), &context.catalogue.domain_place(index), open, report);
    }
    for entry in context.catalogue.tools() {
        for (name, schema) in
            entry.tool.listed.iter().flat_map(|listed| [("input", &listed.input), ("output", &listed.output)])
        {
            walk(schema, &entry.place.child(name), open, report);
        }
    }
}

fn written(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}

fn walk(value: &Value, place: &Place, open: bool, report: &mut Report<'_>) {
    match value {
        Value::String(text) => {
            let told = place.pointer.ends_with("/instructions") || place.pointer.ends_with("/reading");
            let lines = open || place.file == 0 && told;
            let allowed = |letter: char| lines && letter == '\n' || open && matches!(letter, '\r' | '\t');
            // Under `open`, the joiners and selectors of an emoji belong to what a reader sees.
            let found = characters(text).find(|(letter, hidden)| {
                let hidden = if open { *hidden } else { is_hidden(*letter) };
                hidden && !allowed(*letter)
            });
            if let Some((found, _)) = found {
                let message = format!("the text holds the character U+{:04X}", u32::from(found));
                report.value(place, message, "remove it; write one line of visible characters");
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &place.child(index), open, report);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let inner = place.child(name);
                if name.chars().any(is_hidden) {
                    report.key(
                        &inner,
                        "the key holds an invisible character",
                        "write visible characters only",
                    );
                }
                // Examples may show such characters on purpose: they are data, not text to be read.
                if !matches!(name.as_str(), "arguments" | "reply" | "pattern") {
                    walk(member, &inner, open, report);
                }
            }
        }
        _ => {}
    }
}
