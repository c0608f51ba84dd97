//! `next-calls`: a call that an error suggests names a tool that clients can call, gives every required argument or asks for
//! it, and takes its values and its condition from where there are values of that type. It never names an argument that holds a secret.

use colibri_visible::is_hidden;
use serde_json::{Map, Value};

use crate::catalogue::{NextCall, Place, Runs, Source, Tool, ToolEntry, ToolErrorEntry, suggest};
use crate::lint::schemas::{is_required, property, property_names, resolve, type_of};
use crate::lint::{Context, Report, conforms};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        for (index, error) in entry.tool.errors.iter().enumerate() {
            for (position, call) in error.next.iter().enumerate() {
                let place = entry.place.child("errors").child(index).child("next").child(position);
                let Some(target) = target(context, call, &place, report) else { continue };
                let mut judge = Judge { context, entry: &entry, error, target, report };
                judge.condition(call, &place);
                judge.names(call, &place);
                for (name, value) in &call.arguments {
                    judge.argument(name, value, &place.child("arguments").child(name));
                }
            }
        }
    }
}

fn target<'a>(
    context: &Context<'a>,
    call: &NextCall,
    place: &Place,
    report: &mut Report<'_>,
) -> Option<&'a Tool> {
    let listed =
        || context.catalogue.tools().map(|entry| entry.tool).filter(|tool| tool.runs != Runs::Operator);
    let found = listed().find(|tool| tool.name == call.tool);
    if found.is_none() {
        let help = match suggest::closest(&call.tool, listed().map(|tool| tool.name.as_str())) {
            Some(near) => format!("write `{near}`"),
            None => "name a tool that clients can call".to_owned(),
        };
        report.value(&place.child("tool"), format!("clients cannot call a tool `{}`", call.tool), help);
    }
    found
}

struct Judge<'a, 'c, 'r> {
    context: &'a Context<'c>,
    /// The tool that fails.
    entry: &'a ToolEntry<'c>,
    error: &'a ToolErrorEntry,
    /// The tool that is suggested.
    target: &'a Tool,
    report: &'a mut Report<'r>,
}

impl Judge<'_, '_, '_> {
    /// What the call depends on is a field of the error.
    fn condition(&mut self, call: &NextCall, place: &Place) {
        let Some(field) = call.only_if.as_ref().filter(|field| !self.error.fields.contains_key(*field))
        else {
            return;
        };
        let help = match suggest::closest(field, self.error.fields.keys().map(String::as_str)) {
            Some(near) => format!("write `{near}`"),
            None => "name a field of the error".to_owned(),
        };
        self.report.value(&place.child("if"), format!("the error has no field `{field}`"), help);
    }

    /// The call's arguments are the tool's, none of them a secret, and none that it needs is missing.
    fn names(&mut self, call: &NextCall, place: &Place) {
        let input = &self.target.input;
        let names = property_names(self.context.catalogue, input);
        let given = call.arguments.keys().map(|name| ("arguments", name));
        for (member, name) in given.chain(call.ask.keys().map(|name| ("ask", name))) {
            let place = place.child(member).child(name);
            if !names.contains(&name.as_str()) {
                let help = match suggest::closest(name, names.iter().copied()) {
                    Some(near) => format!("write `{near}`"),
                    None => "name a property of its input".to_owned(),
                };
                self.report.key(&place, format!("`{}` takes no argument `{name}`", self.target.name), help);
            } else if self.target.sensitive.contains(name) {
                let message = format!("the argument `{name}` of `{}` holds a secret", self.target.name);
                self.report.key(&place, message, "leave it out; no suggestion may name it");
            }
        }
        let missing = names.iter().filter(|name| {
            is_required(input, name) && !call.arguments.contains_key(**name) && !call.ask.contains_key(**name)
        });
        for name in missing {
            let message = format!("the call lacks `{name}`, which `{}` requires", self.target.name);
            self.report.key(place, message, "give it under `arguments`, or a hint under `ask`");
        }
    }

    fn argument(&mut self, name: &str, value: &Value, place: &Place) {
        let Some(wanted) = property(self.context.catalogue, &self.target.input, name) else { return };
        let (found, what) = match Source::of(value) {
            Source::Literal(value) => return self.literal(wanted, value, place),
            Source::Field(field) => {
                let schema = self.error.fields.get(field).and_then(Value::as_object);
                (
                    schema.and_then(|schema| resolve(self.context.catalogue, schema)),
                    format!("field `{field}`"),
                )
            }
            Source::Argument(own) if self.entry.tool.sensitive.iter().any(|name| name == own) => {
                let message = format!("the argument `{own}` holds a secret");
                return self.report.value(place, message, "leave it out; no suggestion may repeat it");
            }
            Source::Argument(own) => {
                (property(self.context.catalogue, &self.entry.tool.input, own), format!("argument `{own}`"))
            }
        };
        match found {
            None => {
                let help =
                    "write `{field}` for a field of the error, `{argument.name}` for an argument of the call";
                self.report.value(place, format!("there is no {what}"), help);
            }
            Some(found) if !agree(found, wanted) => {
                let message = format!("the {what} is not of the type that `{name}` takes");
                self.report.value(place, message, "take another value, or ask for this one");
            }
            Some(_) => {}
        }
    }

    fn literal(&mut self, wanted: &Map<String, Value>, value: &Value, place: &Place) {
        for misfit in conforms::check(self.context.catalogue, wanted, value).err().into_iter().flatten() {
            let place = Place { file: place.file, pointer: format!("{}{}", place.pointer, misfit.pointer) };
            self.report.value(
                &place,
                format!("the argument does not fit: {}", misfit.message),
                "write what the tool's input schema describes",
            );
        }
        // The texts of examples may hold such characters as data; those of suggestions are acted upon.
        if any_text(value, &|text| text.chars().any(is_hidden)) {
            self.report.value(
                place,
                "the text holds an invisible character",
                "write visible characters only",
            );
        }
        if any_text(value, &|text| !matches!(Source::of(&Value::from(text)), Source::Literal(_))) {
            let help = "only a whole argument can stand for a value";
            self.report.value(place, "a place within a list or an object is not filled in", help);
        }
    }
}

/// Whether each value of one schema can be a value of the other, as far as their types say. Bounds are left to the calls.
fn agree(found: &Map<String, Value>, wanted: &Map<String, Value>) -> bool {
    let types = (type_of(found).map(|(name, _)| name), type_of(wanted).map(|(name, _)| name));
    let fits = match types {
        (Some("integer"), Some("number")) | (None, _) | (_, None) => true,
        (Some(found), Some(wanted)) => found == wanted,
    };
    let values = |schema: &Map<String, Value>| schema.get("enum").and_then(Value::as_array).cloned();
    let chosen = match (values(found), values(wanted)) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(found), Some(wanted)) => found.iter().all(|value| wanted.contains(value)),
    };
    fits && chosen
}

/// Whether a text within the value is one of these.
fn any_text(value: &Value, is: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, is)),
        Value::Object(members) => members.values().any(|member| any_text(member, is)),
        _ => false,
    }
}
