//! `tool-names`: clients take names of at most 64 letters, digits and `_`; each stands for one tool.

use std::collections::HashMap;

use crate::lint::pattern::is_tool_name;
use crate::lint::{Context, Report};

const MAX_LENGTH: usize = 64;

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let mut seen: HashMap<&str, String> = HashMap::new();
    for entry in context.catalogue.tools() {
        let name = entry.tool.name.as_str();
        let place = entry.place.child("name");
        if !is_tool_name(name) {
            let help = "write lower-case letters, digits and `_`, not starting with a digit";
            report.value(&place, format!("the tool's name `{name}` is not snake_case"), help);
        } else if name.len() > MAX_LENGTH {
            let message = format!("the tool's name has {} characters", name.len());
            report.value(&place, message, format!("write at most {MAX_LENGTH}"));
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
