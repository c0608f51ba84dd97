//! `instructions`: what every model reads first is short, and names nothing that is not there.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::catalogue::{Announcement, Place, Teaches};
use crate::lint::schemas::Role;
use crate::lint::{Context, Report};

/// The most characters that a client is told when every tool is offered.
const MAX_CHARACTERS: usize = 2000;

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let head = &context.catalogue.head;
    let place = context.catalogue.head_place();
    let characters = head.full_instructions().chars().count();
    if characters > MAX_CHARACTERS {
        let message = format!("the instructions have {characters} characters with those of all toolsets");
        report.value(&place.child("instructions"), message, format!("write at most {MAX_CHARACTERS}"));
    }
    let known = known_names(context);
    names(&head.instructions, &place.child("instructions"), None, (context, &known), report);
    for (index, set) in head.toolsets.iter().enumerate() {
        let place = place.child("toolsets").child(index);
        for (key, text) in [("instructions", &set.instructions), ("reading", &set.reading)] {
            let text = text.as_deref().unwrap_or_default();
            names(text, &place.child(key), Some(&set.name), (context, &known), report);
        }
    }
    for (index, told) in head.announcements.iter().enumerate() {
        let place = place.child("announcements").child(index);
        names(&told.instructions, &place.child("instructions"), None, (context, &known), report);
        let whole = characters + 2 + told.instructions.chars().count();
        if told.teaches == Teaches::All && characters <= MAX_CHARACTERS && whole > MAX_CHARACTERS {
            let message = format!("the instructions have {whole} characters with this announcement");
            report.value(&place.child("instructions"), message, format!("write at most {MAX_CHARACTERS}"));
        }
        let same = |other: &&Announcement| (&other.setting, &other.value) == (&told.setting, &told.value);
        if head.announcements[..index].iter().any(|other| same(&other)) {
            let message = format!("`{}` with `{}` is announced already", told.setting, told.value);
            report.value(&place.child("value"), message, "only one of them could hold: remove the other");
        }
    }
}

/// Checks each word that is written as a name. The part of a toolset names the set's own tools, because the others may not
/// be offered.
fn names(
    text: &str,
    place: &Place,
    set: Option<&str>,
    (context, known): (&Context<'_>, &BTreeSet<&str>),
    report: &mut Report<'_>,
) {
    for word in text.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        if let Some(entry) = context.catalogue.tools().find(|entry| entry.tool.name == word) {
            if set.is_some_and(|set| entry.tool.toolset.as_deref() != Some(set)) {
                let message = format!("`{word}` is a tool of another toolset");
                report.value(place, message, "say it in the instructions of that set");
            }
        } else if word.contains('_') && !known.contains(word) {
            let message = format!("the instructions name `{word}`, which is not in the catalogue");
            report.value(
                place,
                message,
                "write the name of a tool, a parameter, a member of a reply or a code",
            );
        }
    }
}

/// Returns the names of properties and the codes of errors.
fn known_names<'a>(context: &'a Context<'_>) -> BTreeSet<&'a str> {
    let schemas = context.schemas.nodes.iter().filter(|node| node.role != Role::ErrorField);
    let properties = schemas.filter_map(|node| node.schema.get("properties").and_then(Value::as_object));
    let mut known: BTreeSet<&str> =
        properties.flat_map(|members| members.keys().map(String::as_str)).collect();
    known.extend(context.catalogue.head.notices.iter().map(|notice| notice.code.as_str()));
    known.extend(context.catalogue.head.chain.roles().map(|(_, error)| error.code.as_str()));
    let foreign = context.catalogue.head.foreign.iter().flat_map(|codes| codes.roles());
    known.extend(foreign.map(|(_, error)| error.code.as_str()));
    let errors = context.catalogue.tools().flat_map(|entry| &entry.tool.errors);
    known.extend(errors.map(|error| error.code.as_str()));
    known
}
