//! `error-codes`: codes are SCREAMING_SNAKE_CASE, each declared once, the chain's, those of foreign calls and of notices by these only;
//! and `prefix` is said where it means something.

use std::collections::HashMap;

use crate::catalogue::{ErrorPattern, Place};
use crate::lint::pattern::is_code;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let (head, place) = (&context.catalogue.head, context.catalogue.head_place());
    let mut taken: HashMap<&str, String> = HashMap::new();
    for (role, error) in head.chain.roles() {
        // Both refuse a tool that exists, so they may answer with one code.
        if role == "not_in_toolset" && error.code == head.chain.not_admitted.code {
            continue;
        }
        take(&error.code, format!("`{role}`"), &place.child("chain").child(role), &mut taken, report);
    }
    for (role, error) in head.foreign.iter().flat_map(|codes| codes.roles()) {
        take(&error.code, format!("`{role}`"), &place.child("foreign").child(role), &mut taken, report);
    }
    for (index, notice) in head.notices.iter().enumerate() {
        let place = place.child("notices").child(index);
        take(&notice.code, "a notice".to_owned(), &place, &mut taken, report);
    }
    for entry in context.catalogue.tools() {
        for (index, error) in entry.tool.errors.iter().enumerate() {
            let place = entry.place.child("errors").child(index);
            let code = place.child("code");
            form(&error.code, &code, report);
            if let Some(owner) = taken.get(error.code.as_str()) {
                let message = format!("the code `{}` is the catalogue's ({owner})", error.code);
                report.value(&code, message, "it is not a tool's to give: remove it, or take another");
            }
            if entry.tool.errors[..index].iter().any(|earlier| earlier.code == error.code) {
                let message = format!("the code `{}` is declared twice", error.code);
                report.value(&code, message, "remove one of the two");
            }
            if entry.tool.pattern != ErrorPattern::A && !error.prefix {
                let help = "remove `prefix`; a code has a member of its own there";
                let message = format!("`prefix` means nothing under pattern {:?}", entry.tool.pattern);
                report.key(&place.child("prefix"), message, help);
            }
        }
    }
}

/// Notes a code of the head's and who has it. `place` is the owner's.
fn take<'a>(
    code: &'a str,
    owner: String,
    place: &Place,
    taken: &mut HashMap<&'a str, String>,
    report: &mut Report<'_>,
) {
    let place = place.child("code");
    form(code, &place, report);
    if let Some(other) = taken.insert(code, owner) {
        let message = format!("the code `{code}` already stands for {other}");
        report.value(&place, message, "give each role and each notice its own code");
    }
}

fn form(code: &str, place: &Place, report: &mut Report<'_>) {
    if !is_code(code) {
        let help = "write words of upper-case letters and digits with `_` between them";
        report.value(place, format!("the code `{code}` is not SCREAMING_SNAKE_CASE"), help);
    }
}
