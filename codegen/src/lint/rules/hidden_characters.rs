//! `hidden-characters`: texts that people and models read hold nothing they cannot see. Invisible
//! characters are a way to smuggle instructions into descriptions.

use colibri_visible::is_hidden;
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

/// Whether an invisible character makes one picture of its neighbours: VARIATION SELECTOR-16 behind a sign, or ZERO WIDTH
/// JOINER between two.
fn of_emoji(letters: &[char], at: usize) -> bool {
    let sign = |letter: char| letter > '\u{a8}' && !letter.is_alphanumeric() && !is_hidden(letter);
    let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied();
    let after = letters.get(at + 1).copied();
    match letters[at] {
        '\u{fe0f}' => before.is_some_and(sign) || after == Some('\u{20e3}'),
        '\u{200d}' => {
            before.is_some_and(|before| sign(before) || before == '\u{fe0f}') && after.is_some_and(sign)
        }
        _ => false,
    }
}

fn walk(value: &Value, place: &Place, open: bool, report: &mut Report<'_>) {
    match value {
        Value::String(text) => {
            let lines = open || place.file == 0 && place.pointer.ends_with("/instructions");
            let letters: Vec<char> = text.chars().collect();
            let allowed = |at: usize| {
                lines && letters[at] == '\n'
                    || open && (matches!(letters[at], '\r' | '\t') || of_emoji(&letters, at))
            };
            let hidden = (0..letters.len()).find(|at| is_hidden(letters[*at]) && !allowed(*at));
            if let Some(found) = hidden.map(|at| letters[at]) {
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

#[cfg(test)]
mod tests {
    use super::of_emoji;

    #[test]
    fn parts_of_a_picture_are_told_from_what_hides_between_letters() {
        for (text, at, wanted) in [
            ("⚠\u{fe0f} x", 1, true),
            ("1\u{fe0f}\u{20e3}", 1, true),
            ("👩\u{200d}💻", 1, true),
            ("❤\u{fe0f}\u{200d}🔥", 2, true),
            ("a\u{fe0f}b", 1, false),
            ("a\u{200d}b", 1, false),
            ("⚠\u{fe0f}\u{fe0f}", 2, false),
            ("\u{fe0f}", 0, false),
            ("⚠\u{200b}⚠", 1, false),
        ] {
            assert_eq!(of_emoji(&text.chars().collect::<Vec<_>>(), at), wanted, "{text:?}");
        }
    }
}
