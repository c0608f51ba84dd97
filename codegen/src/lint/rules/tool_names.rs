//! `tool-names`: clients take names of at most 64 letters, digits and `_`; each stands for one tool. Under `open`, names
//! may be all that the protocol allows.

use std::collections::HashMap;

use crate::lint::pattern::{is_legal, is_tool_name};
use crate::lint::{Context, Report};

const MAX_LENGTH: usize = 64;
/// What the protocol allows.
const MAX_LEGAL: usize = 128;

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let mut seen: HashMap<&str, String> = HashMap::new();
    for entry in context.catalogue.tools() {
        let name = entry.tool.name.as_str();
        let place = entry.place.child("name");
        let most = if context.is_open() { MAX_LEGAL } else { MAX_LENGTH };
        if context.is_open() && !is_legal(name) {
            let help = "write letters, digits, `_`, `-`, `.` and `/`, at least one of them a letter or digit";
            report.value(&place, format!("the protocol does not allow the tool's name `{name}`"), help);
        } else if !context.is_open() && !is_tool_name(name) {
            let help = "write lower-case letters, digits and `_`, not starting with a digit";
            report.value(&place, format!("the tool's name `{name}` is not snake_case"), help);
        } else if name.len() > most {
            let message = format!("the tool's name has {} characters", name.len());
            report.value(&place, message, format!("write at most {most}"));
        }
        match seen.get(name) {
            Some(first) => {
                let message = format!("there is already a tool `{name}` at {first}");
                report.value(&place, message, "give one of the two another name");
            }
            None => {
                seen.insert(name, context.catalogue.locate(&place).to_string());
            }
        }
    }
}
