//! `example-steps`: every tool has an example, and the steps before it, the values kept and the
//! pointers to them lead somewhere, and what varies is shown as a value that a run could give. The steps
//! of a client's tool are a client's; before an operation the operator may run others.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::catalogue::{Catalogue, Example, Place, Runs, Tool, suggest};
use crate::lint::{Context, Report, conforms};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    let tools: Vec<&Tool> = context.catalogue.tools().map(|entry| entry.tool).collect();
    for entry in context.catalogue.tools() {
        let place = entry.place.child("examples");
        if entry.tool.examples.is_empty() && !context.is_open() {
            report.key(&place, "the tool has no example", "add one; the tests run it");
        }
        titles(entry.tool, &place, report);
        for (index, example) in entry.tool.examples.iter().enumerate() {
            steps(example, context.catalogue, (entry.tool, &tools), &place.child(index), report);
        }
    }
}

fn titles(tool: &Tool, place: &Place, report: &mut Report<'_>) {
    for (index, example) in tool.examples.iter().enumerate() {
        if tool.examples[..index].iter().any(|earlier| earlier.title == example.title) {
            let message = format!("two examples are called `{}`", example.title);
            report.value(&place.child(index).child("title"), message, "say what each shows");
        }
    }
}

fn steps(
    example: &Example,
    catalogue: &Catalogue,
    (tool, tools): (&Tool, &[&Tool]),
    place: &Place,
    report: &mut Report<'_>,
) {
    let mut kept: HashSet<&str> = HashSet::new();
    for (index, step) in example.before.iter().enumerate() {
        let place = place.child("before").child(index);
        callable(&step.tool, tool, tools, &place.child("tool"), report);
        bound(&step.bind, &step.arguments, &kept, &place.child("bind"), report);
        for (name, pointer) in &step.keep {
            if !is_pointer(pointer) {
                refuse(&place.child("keep").child(name), pointer, report);
            }
            if !kept.insert(name) {
                let message = format!("an earlier step already keeps `{name}`");
                report.key(&place.child("keep").child(name), message, "take another name");
            }
        }
    }
    bound(&example.bind, &example.arguments, &kept, &place.child("bind"), report);
    for (pointer, varying) in &example.varies {
        let place = place.child("varies").child(pointer);
        match example.reply.pointer(pointer) {
            _ if !is_pointer(pointer) => refuse(&place, pointer, report),
            None => {
                let message = format!("the reply has nothing at `{pointer}`");
                report.key(&place, message, "point at a value of `reply`");
            }
            Some(shown) => {
                for misfit in conforms::check(catalogue, &varying.schema(), shown).err().into_iter().flatten()
                {
                    let message = format!("the documented value is not what it says: {}", misfit.message);
                    report.value(&place, message, "show a value that a run could give");
                }
            }
        }
    }
}

/// That the caller of the example's tool could make the step.
fn callable(name: &str, of: &Tool, tools: &[&Tool], place: &Place, report: &mut Report<'_>) {
    match tools.iter().find(|tool| tool.name == name) {
        Some(tool) if tool.runs == Runs::Operator && of.runs != Runs::Operator => {
            let help = "set the stage with tools that clients can call";
            report.value(place, format!("`{name}` is an operation, which no client can call"), help);
        }
        Some(_) => {}
        None => {
            let listed =
                tools.iter().filter(|tool| tool.runs != Runs::Operator).map(|tool| tool.name.as_str());
            let help = match suggest::closest(name, listed) {
                Some(near) => format!("write `{near}`"),
                None => "write the name of a tool of this catalogue".to_owned(),
            };
            report.value(place, format!("there is no tool `{name}`"), help);
        }
    }
}

fn bound(
    bind: &BTreeMap<String, String>,
    arguments: &Value,
    kept: &HashSet<&str>,
    place: &Place,
    report: &mut Report<'_>,
) {
    for (pointer, name) in bind {
        let place = place.child(pointer);
        if !is_pointer(pointer) {
            refuse(&place, pointer, report);
        } else if arguments.pointer(pointer).is_none() {
            let help = "point at a value of `arguments`";
            report.key(&place, format!("the arguments have nothing at `{pointer}`"), help);
        }
        if !kept.contains(name.as_str()) {
            let help = "add `keep` to a step under `before`, or write a name kept there";
            report.value(&place, format!("no earlier step keeps `{name}`"), help);
        }
    }
}

fn refuse(place: &Place, pointer: &str, report: &mut Report<'_>) {
    let help = "write `/member/0/member` (RFC 6901), `~1` for a slash and `~0` for a tilde in a name";
    report.value(place, format!("`{pointer}` is not a JSON pointer"), help);
}

/// RFC 6901 §3, the empty pointer left out: it would stand for the whole.
fn is_pointer(pointer: &str) -> bool {
    let escapes =
        pointer.match_indices('~').all(|(at, _)| matches!(pointer.as_bytes().get(at + 1), Some(b'0' | b'1')));
    pointer.starts_with('/') && escapes
}
