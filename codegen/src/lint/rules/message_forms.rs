//! `message-forms`: the places in an error's message and remedy are declared fields, used as their types allow.

use serde_json::Value;

use crate::catalogue::{Place, ToolErrorEntry, suggest};
use crate::ir::message::{self, Piece, With};
use crate::lint::schemas::{resolve, type_of};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let chain = context.catalogue.head_place().child("chain");
    for (role, error) in context.catalogue.head.chain.roles() {
        if let Err(fault) = message::parse(&error.message) {
            report.value(&chain.child(role).child("message"), fault, FORM_HELP);
        }
    }
    let foreign = context.catalogue.head_place().child("foreign");
    for (role, error) in context.catalogue.head.foreign.iter().flat_map(|codes| codes.roles()) {
        if let Err(fault) = message::parse(&error.message) {
            report.value(&foreign.child(role).child("message"), fault, FORM_HELP);
        }
    }
    let notices = context.catalogue.head_place().child("notices");
    for (index, notice) in context.catalogue.head.notices.iter().enumerate() {
        if let Err(fault) = message::parse(&notice.message) {
            report.value(&notices.child(index).child("message"), fault, FORM_HELP);
        }
    }
    for entry in context.catalogue.tools() {
        for (index, error) in entry.tool.errors.iter().enumerate() {
            let place = entry.place.child("errors").child(index);
            form(context, error, &error.message, &place.child("message"), report);
            form(context, error, &error.remedy, &place.child("remedy"), report);
        }
    }
}

const FORM_HELP: &str = "write `{field}`, `{field or \"text\"}` or `{field join \", \"}`";

fn form(context: &Context<'_>, error: &ToolErrorEntry, text: &str, place: &Place, report: &mut Report<'_>) {
    let parts = match message::parse(text) {
        Ok(parts) => parts,
        Err(fault) => return report.value(place, fault, FORM_HELP),
    };
    for part in parts {
        let Piece::Field { name, with: form } = part else { continue };
        let Some(schema) = error.fields.get(&name) else {
            let help = match suggest::closest(&name, error.fields.keys().map(String::as_str)) {
                Some(near) => format!("write `{near}`"),
                None => format!("declare `{name}` under `fields`"),
            };
            report.value(place, format!("the text uses the undeclared field `{name}`"), help);
            continue;
        };
        let Some(kind) = kind(context, schema) else { continue };
        if let Some(help) = misuse(&form, kind, &name) {
            report.value(
                place,
                format!("the text cannot show `{name}` like this: it is {}", kind.name()),
                help,
            );
        }
    }
}

/// What a field's values are, as far as messages care.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Scalar,
    NullableScalar,
    Strings,
    Other,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Scalar => "a string or an integer",
            Self::NullableScalar => "nullable",
            Self::Strings => "a list of strings",
            Self::Other => "neither a string, an integer nor a list of strings",
        }
    }
}

/// `None` when the schema itself is broken, which is another rule's.
fn kind(context: &Context<'_>, schema: &Value) -> Option<Kind> {
    let schema = resolve(context.catalogue, schema.as_object()?)?;
    Some(match type_of(schema) {
        Some(("string" | "integer", false)) => Kind::Scalar,
        Some(("string" | "integer", true)) => Kind::NullableScalar,
        Some(("array", false)) => {
            match schema.get("items").and_then(|items| kind_is_string(context, items)) {
                Some(true) => Kind::Strings,
                _ => Kind::Other,
            }
        }
        Some(_) => Kind::Other,
        None if schema.contains_key("anyOf") || schema.contains_key("oneOf") => Kind::Other,
        None => return None,
    })
}

fn kind_is_string(context: &Context<'_>, schema: &Value) -> Option<bool> {
    let schema = resolve(context.catalogue, schema.as_object()?)?;
    Some(type_of(schema) == Some(("string", false)))
}

fn misuse(form: &With, kind: Kind, name: &str) -> Option<String> {
    match (form, kind) {
        (With::Plain, Kind::Scalar)
        | (With::Or(_), Kind::NullableScalar)
        | (With::Join(_), Kind::Strings) => None,
        (_, Kind::Scalar) => Some(format!("write `{{{name}}}`")),
        (_, Kind::NullableScalar) => Some(format!("write `{{{name} or \"text\"}}`")),
        (_, Kind::Strings) => Some(format!("write `{{{name} join \", \"}}`")),
        (_, Kind::Other) => Some("leave it out of the text; it is in the error's fields".to_owned()),
    }
}
