//! `error-codes`: codes are SCREAMING_SNAKE_CASE, each declared once, the chain's, those of foreign calls and of notices by these only;
//! and `prefix` is said where it means something.

use std::collections::HashMap;

use crate::catalogue::{ErrorPattern, Place};
use crate::lint::pattern::is_code;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let chain = context.catalogue.head_place().child("chain");
    let mut of_chain: HashMap<&str, &str> = HashMap::new();
    for (role, error) in context.catalogue.head.chain.roles() {
        let place = chain.child(role).child("code");
        form(&error.code, &place, report);
        let shared = role == "not_in_toolset" && of_chain.get(error.code.as_str()) == Some(&"not_admitted");
        if let Some(other) = of_chain.insert(&error.code, role).filter(|_| !shared) {
            let message = format!("the code `{}` already stands for `{other}`", error.code);
            report.value(&place, message, "give each role a code of its own");
        }
    }
    let foreign = context.catalogue.head_place().child("foreign");
    for (role, error) in context.catalogue.head.foreign.iter().flat_map(|codes| codes.roles()) {
        let place = foreign.child(role).child("code");
        form(&error.code, &place, report);
        if let Some(other) = of_chain.insert(&error.code, role) {
            let message = format!("the code `{}` already stands for `{other}`", error.code);
            report.value(&place, message, "give each role a code of its own");
        }
    }
    let notices = context.catalogue.head_place().child("notices");
    for (index, notice) in context.catalogue.head.notices.iter().enumerate() {
        let place = notices.child(index).child("code");
        form(&notice.code, &place, report);
        if let Some(other) = of_chain.insert(&notice.code, "notices") {
            let message = format!("the code `{}` already stands for `{other}`", notice.code);
            report.value(&place, message, "give each notice a code of its own");
        }
    }
    for entry in context.catalogue.tools() {
        for (index, error) in entry.tool.errors.iter().enumerate() {
            let place = entry.place.child("errors").child(index);
            let code = place.child("code");
            form(&error.code, &code, report);
            if let Some(role) = of_chain.get(error.code.as_str()) {
                let message = format!("the code `{}` is the catalogue's (`{role}`)", error.code);
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

fn form(code: &str, place: &Place, report: &mut Report<'_>) {
    if !is_code(code) {
        let help = "write words of upper-case letters and digits with `_` between them";
        report.value(place, format!("the code `{code}` is not SCREAMING_SNAKE_CASE"), help);
    }
}
