//! `texts`: titles and descriptions say something, and a tool's description stays brief: a model
//! reads all of them before every choice.

use serde_json::Value;

use crate::catalogue::{Place, Tool};
use crate::lint::{Context, Report};

const MAX_SENTENCES: usize = 2;
const MAX_CHARACTERS: usize = 300;

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let head = &context.catalogue.head;
    let place = context.catalogue.head_place();
    for (key, text) in [("name", &head.name), ("title", &head.title), ("instructions", &head.instructions)] {
        present(&place.child(key), text, report);
    }
    for (index, set) in head.toolsets.iter().enumerate() {
        let place = place.child("toolsets").child(index);
        let instructions = set.instructions.iter().map(|text| ("instructions", text));
        let instructions = instructions.chain(set.reading.iter().map(|text| ("reading", text)));
        let texts =
            [("title", &set.title), ("description", &set.description)].into_iter().chain(instructions);
        texts.for_each(|(key, text)| present(&place.child(key), text, report));
    }
    for (index, entry) in context.catalogue.domains.iter().enumerate() {
        let place = context.catalogue.domain_place(index);
        present(&place.child("title"), &entry.data.title, report);
        present(&place.child("description"), &entry.data.description, report);
    }
    for entry in context.catalogue.tools() {
        tool(entry.tool, &entry.place, report);
    }
    for node in &context.schemas.nodes {
        for keyword in ["description", "x-message"] {
            if let Some(Value::String(text)) = node.schema.get(keyword) {
                present(&node.place.child(keyword), text, report);
            }
        }
    }
}

fn tool(tool: &Tool, place: &Place, report: &mut Report<'_>) {
    let description = place.child("description");
    present(&place.child("title"), &tool.title, report);
    present(&description, &tool.description, report);
    let sentences = sentences(&tool.description);
    if sentences > MAX_SENTENCES {
        let message = format!("the description has {sentences} sentences");
        report.value(&description, message, "write at most two; the first tells the tool apart");
    }
    let characters = tool.description.chars().count();
    if characters > MAX_CHARACTERS {
        let message = format!("the description has {characters} characters");
        report.value(&description, message, format!("write at most {MAX_CHARACTERS}"));
    }
    for (index, error) in tool.errors.iter().enumerate() {
        let place = place.child("errors").child(index);
        present(&place.child("message"), &error.message, report);
        present(&place.child("when"), &error.when, report);
        present(&place.child("remedy"), &error.remedy, report);
    }
    for (index, example) in tool.examples.iter().enumerate() {
        present(&place.child("examples").child(index).child("title"), &example.title, report);
    }
}

fn present(place: &Place, text: &str, report: &mut Report<'_>) {
    if text.trim().is_empty() {
        report.value(place, "the text is empty", "say in a few words what it is");
    } else if text.trim() != text {
        report.value(
            place,
            "the text starts or ends with space",
            "remove the space; write `>-` for a folded text",
        );
    }
}

/// Counts ends of sentences: a full stop, exclamation or question mark before space and no small letter.
fn sentences(text: &str) -> usize {
    let text = text.trim();
    let ends = text.match_indices(['.', '!', '?']).filter(|(end, _)| {
        let after = &text[end + 1..];
        let next = after.trim_start().chars().next();
        after.starts_with(char::is_whitespace) && next.is_some_and(|next| !next.is_lowercase())
    });
    ends.count() + usize::from(!text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn sentences_are_counted() {
        for (text, count) in [
            ("", 0),
            ("Create a task", 1),
            ("Create a task. It starts in INIT.", 2),
            ("Reads version 1.2 of a file, e.g. the last one.", 1),
            ("One! Two? `three` is the third.", 3),
        ] {
            assert_eq!(sentences(text), count, "{text}");
        }
    }
}
