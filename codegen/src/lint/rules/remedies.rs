//! `remedies`: an error's remedy is short and holds no address; of the chain's codes, exactly those that reach clients on
//! their own have one.

use crate::catalogue::{NextCall, Place};
use crate::lint::{Context, Report};

const MAX_CHARACTERS: usize = 200;
const MAX_CALLS: usize = 3;

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let chain = context.catalogue.head_place().child("chain");
    let roles = &context.catalogue.head.chain;
    for (role, error) in roles.roles() {
        let place = chain.child(role);
        match (&error.remedy, roles.remedied().any(|(known, _)| known == role)) {
            (None, true) => {
                let help = "add `remedy`: what the caller can do about it";
                report.key(&place, format!("`{role}` has no remedy"), help);
            }
            (Some(_), false) => {
                let help = "remove it; clients meet this code beside others or not at all";
                report.key(&place.child("remedy"), format!("the remedy of `{role}` is never sent"), help);
            }
            (Some(text), true) if text.trim().is_empty() => {
                report.value(&place.child("remedy"), "the text is empty", "say what the caller can do");
            }
            (Some(text), true) if !context.is_open() => brief(text, &place.child("remedy"), report),
            (Some(_), true) => {}
            (None, false) => {}
        }
    }
    for entry in context.catalogue.tools() {
        for (index, error) in entry.tool.errors.iter().enumerate() {
            let place = entry.place.child("errors").child(index);
            if !context.is_open() {
                brief(&error.remedy, &place.child("remedy"), report);
            }
            calls(&error.next, context.is_open(), &place.child("next"), report);
        }
    }
}

fn brief(text: &str, place: &Place, report: &mut Report<'_>) {
    let characters = text.chars().count();
    if characters > MAX_CHARACTERS {
        let message = format!("the remedy has {characters} characters");
        report.value(place, message, format!("write at most {MAX_CHARACTERS}"));
    }
    without_address(text, place, report);
}

fn calls(next: &[NextCall], open: bool, place: &Place, report: &mut Report<'_>) {
    if next.len() > MAX_CALLS {
        let message = format!("the error suggests {} calls", next.len());
        report.key(place, message, format!("keep the {MAX_CALLS} that help most"));
    }
    for (index, call) in next.iter().enumerate() {
        for (name, hint) in &call.ask {
            let place = place.child(index).child("ask").child(name);
            if hint.trim().is_empty() {
                report.value(&place, "the hint is empty", "say in a few words what belongs there");
            }
            if !open {
                brief(hint, &place, report);
            }
        }
    }
}

/// An agent does what a remedy says, so none may lead it to an address.
fn without_address(text: &str, place: &Place, report: &mut Report<'_>) {
    if text.contains("://") || text.contains("www.") {
        report.value(place, "the text holds a URL", "say it in words; agents follow what stands here");
    }
}
