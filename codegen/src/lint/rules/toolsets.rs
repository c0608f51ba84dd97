//! `toolsets`: where there are toolsets, each has tools, and each tool that clients see is in one of them.

use std::collections::BTreeSet;

use crate::catalogue::{Place, Runs, Toolset, suggest};
use crate::lint::pattern::is_tool_name;
use crate::lint::{Context, Report};

/// The word by which an operator offers every tool.
const EVERYTHING: &str = "all";

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let head = &context.catalogue.head;
    let place = context.catalogue.head_place();
    if !head.toolsets.is_empty() && head.chain.not_in_toolset.is_none() {
        let help = "add `not_in_toolset` with a code, a message and when it is answered";
        report.key(&place.child("chain"), "the chain has no answer for a tool that is not offered", help);
    }
    let mut seen = BTreeSet::new();
    for (index, set) in head.toolsets.iter().enumerate() {
        let at = place.child("toolsets").child(index).child("name");
        self::name(context, set, &at, report);
        if !seen.insert(set.name.as_str()) {
            report.value(&at, format!("there is already a toolset `{}`", set.name), "remove one of the two");
        }
        if !context.catalogue.tools().any(|entry| entry.tool.toolset.as_ref() == Some(&set.name)) {
            let help = format!("write `toolset: {}` in a tool, or remove the set", set.name);
            report.value(&at, format!("no tool is in the toolset `{}`", set.name), help);
        }
    }
    for name in head.budget.toolset_bytes.keys().filter(|name| !seen.contains(name.as_str())) {
        let at = place.child("budget").child("toolset_bytes").child(name);
        report.key(&at, format!("there is no toolset `{name}`"), known(name, &seen));
    }
    for entry in context.catalogue.tools() {
        let at = entry.place.child("toolset");
        match &entry.tool.toolset {
            Some(_) if entry.tool.runs == Runs::Operator => {
                report.key(
                    &at,
                    "an operation is in no toolset",
                    "remove `toolset`; clients do not see the tool",
                );
            }
            Some(name) if !seen.contains(name.as_str()) => {
                report.value(&at, format!("there is no toolset `{name}`"), known(name, &seen));
            }
            None if !seen.is_empty() && entry.tool.runs != Runs::Operator => {
                let message = format!("the tool `{}` is in no toolset", entry.tool.name);
                report.key(
                    &entry.place.child("name"),
                    message,
                    "add `toolset: …` with the name of a set in catalogue.yaml",
                );
            }
            _ => {}
        }
    }
}

/// Checks the name, which a setting lists among the names of tools.
fn name(context: &Context<'_>, set: &Toolset, at: &Place, report: &mut Report<'_>) {
    let name = &set.name;
    if !is_tool_name(name) {
        let help = "write lower-case letters, digits and `_`, not starting with a digit";
        report.value(at, format!("the toolset's name `{name}` is not snake_case"), help);
    } else if name == EVERYTHING {
        report.value(at, format!("`{EVERYTHING}` stands for every tool"), "give the set another name");
    } else if context.catalogue.tools().any(|entry| entry.tool.name == *name) {
        report.value(at, format!("there is a tool `{name}`"), "give the set a name that no tool has");
    }
}

fn known(name: &str, sets: &BTreeSet<&str>) -> String {
    match suggest::closest(name, sets.iter().copied()) {
        Some(near) => format!("write `{near}`"),
        None if sets.is_empty() => "remove it, or add `toolsets` to catalogue.yaml".to_owned(),
        None => format!("write {}", suggest::alternatives(&sets.iter().copied().collect::<Vec<_>>())),
    }
}
