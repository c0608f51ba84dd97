//! Rules about a tool's entry: its name, texts, hints and place.

use serde_json::{Map, Value, json};

use super::{T1, T2, T3, T4, T6, T7, T8, T9, T10, T11, T13, T14, T15, T17};
use crate::rules::pairing::{Comparison, Pair};
use crate::rules::strings::Sort;
use crate::rules::texts::{TEXT_HELP, alarm};
use crate::snapshot::TaskSupport::{Forbidden, Optional, Required};
use crate::snapshot::{Hints, Tool};
use crate::version::version;
use crate::{Finding, Severity};

pub fn removed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for tool in &change.removed {
        let announced = sunset(tool).filter(|sunset| reached(sunset, change.new.version.as_deref()));
        let (severity, message) = match announced {
            Some(sunset) => {
                (Severity::Info, format!("The tool `{}` is gone, as announced for {sunset}.", tool.name))
            }
            None => (Severity::Break, format!("The tool `{}` is gone.", tool.name)),
        };
        let finding = T1.finding(severity, "", (tool.name.as_str(), Value::Null), message).of(&tool.name);
        found.push(finding.help(format!(
            "keep `{}`, and state the version from which it may be gone as its `sunset` first",
            tool.name
        )));
    }
}

/// The version from which the old state said that the tool may be gone.
fn sunset(tool: &Tool) -> Option<&str> {
    tool.contract.as_ref()?.sunset.as_deref()
}

fn reached(sunset: &str, current: Option<&str>) -> bool {
    matches!((version(sunset), current.and_then(version)), (Some(sunset), Some(current)) if sunset <= current)
}

pub fn renamed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in change.pairs.iter().filter(|pair| pair.renamed()) {
        let (old, new) = (pair.old.name.as_str(), pair.new.name.as_str());
        let message = format!("The tool `{old}` is now `{new}`: a new name with equal schemas.");
        let finding = T2.finding(Severity::Break, "/name", (old, new), message).of(old);
        found.push(finding.help(format!("keep the name `{old}`; `title` may say anything")));
    }
}

pub fn added(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for tool in &change.added {
        let message = format!("The tool `{}` is new.", tool.name);
        let values = (Value::Null, tool.name.as_str());
        found.push(T3.finding(Severity::Info, "", values, message).of(&tool.name));
    }
    // The lint enforces the budget, so a catalogue exceeds the old budget only by raising it.
    let (Some(old), Some(new)) = (change.old.budget, change.new.budget) else { return };
    if new > old && !change.added.is_empty() {
        let message =
            format!("The budget of the tool list went from {old} to {new} bytes, and tools were added.");
        let finding = T3.finding(Severity::Ack, "/budget/tools_list_bytes", (old, new), message);
        found.push(finding.help("shorten descriptions, or make one tool of several, and leave the budget"));
    }
}

const ORDER_HELP: &str = "restore the old order and put what is new at the end";

pub fn order_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    let names = |tools: &[Tool]| -> Vec<String> { tools.iter().map(|tool| tool.name.clone()).collect() };
    if let Some((old, new)) = reordered(&names(&change.old.tools), &names(&change.new.tools)) {
        let message = format!("Tools are listed in another order: `{}` first differs.", first(&old, &new));
        found.push(T4.finding(Severity::Ack, "/tools", (old, new), message).help(ORDER_HELP));
    }
    for pair in &change.pairs {
        let mut inside = Vec::new();
        properties(&pair.old.input, &pair.new.input, "/input", &mut inside);
        if let (Some(old), Some(new)) = (&pair.old.output, &pair.new.output) {
            properties(old, new, "/output", &mut inside);
        }
        found.extend(inside.into_iter().map(|finding| finding.of(pair.name()).help(ORDER_HELP)));
    }
}

/// Finds properties in another order, at every place where both schemas have properties.
fn properties(old: &Value, new: &Value, pointer: &str, found: &mut Vec<Finding>) {
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            if let (Some(Value::Object(a)), Some(Value::Object(b))) =
                (before.get("properties"), after.get("properties"))
            {
                let names =
                    |members: &Map<String, Value>| -> Vec<String> { members.keys().cloned().collect() };
                if let Some((old, new)) = reordered(&names(a), &names(b)) {
                    let message = format!(
                        "Properties are listed in another order: `{}` first differs.",
                        first(&old, &new)
                    );
                    let pointer = format!("{pointer}/properties");
                    found.push(T4.finding(Severity::Ack, pointer, (old, new), message));
                }
            }
            for (key, old) in before {
                if let Some(new) = after.get(key).filter(|_| !is_data(key)) {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    properties(old, new, &format!("{pointer}/{key}"), found);
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (index, (old, new)) in before.iter().zip(after).enumerate() {
                properties(old, new, &format!("{pointer}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Keywords whose values are data of users, which may look like a schema.
fn is_data(key: &str) -> bool {
    matches!(key, "default" | "const" | "enum" | "examples")
}

/// Returns what both have, in either order, if the orders differ.
fn reordered(old: &[String], new: &[String]) -> Option<(Value, Value)> {
    let old_common: Vec<&String> = old.iter().filter(|name| new.contains(name)).collect();
    let new_common: Vec<&String> = new.iter().filter(|name| old.contains(name)).collect();
    (old_common != new_common).then(|| (json!(old_common), json!(new_common)))
}

/// Returns the first name whose place has changed.
fn first<'a>(old: &'a Value, new: &'a Value) -> &'a str {
    let (old, new) = (old.as_array().into_iter().flatten(), new.as_array().into_iter().flatten());
    old.zip(new).find(|(a, b)| a != b).and_then(|(a, _)| a.as_str()).unwrap_or_default()
}

pub fn display_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    let names: Vec<&str> = change.new.tools.iter().map(|tool| tool.name.as_str()).collect();
    for tool in &change.added {
        let titles = [("/title", &tool.title), ("/annotations/title", &tool.hint_title)];
        let titled = titles.map(|(at, title)| title_changed(at, (&None, title), &tool.name, &names));
        let alarming = titled.into_iter().flatten().filter(|finding| finding.security);
        found.extend(alarming.map(|finding| finding.of(&tool.name)));
    }
    for pair in &change.pairs {
        let Pair { old, new } = pair;
        for (at, titles) in
            [("/title", (&old.title, &new.title)), ("/annotations/title", (&old.hint_title, &new.hint_title))]
        {
            let finding = title_changed(at, titles, &new.name, &names);
            found.extend(finding.map(|finding| finding.of(pair.name())));
        }
        if old.icons != new.icons {
            let values = (old.icons.clone(), new.icons.clone());
            found.push(T6.finding(Severity::Info, "/icons", values, "The icons changed.").of(pair.name()));
        }
    }
}

fn title_changed(
    at: &str,
    (old, new): (&Option<String>, &Option<String>),
    own: &str,
    names: &[&str],
) -> Option<Finding> {
    if old == new {
        return None;
    }
    let signs = alarm(new.as_deref().unwrap_or_default(), Sort::Label, own, names);
    let mut message = "The title changed.".to_owned();
    signs.iter().for_each(|sign| message.push_str(&format!(" It {sign}.")));
    let values = (old.clone(), new.clone());
    Some(match signs.is_empty() {
        true => T6.finding(Severity::Info, at, values, message),
        false => T6.finding(Severity::Ack, at, values, message).secure().help(TEXT_HELP),
    })
}

pub fn may_write(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in change.pairs.iter().filter(|pair| pair.old.hints.read_only && !pair.new.hints.read_only) {
        let (values, also) = with_destructive(pair);
        let message = format!("`readOnlyHint` was true and is false: the tool may write now{also}.");
        let finding = T7.finding(Severity::Break, "/hints/read_only", values, message);
        found
            .push(finding.of(pair.name()).secure().help("leave this tool as it is, and add one that writes"));
    }
}

pub fn only_reads(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in change.pairs.iter().filter(|pair| !pair.old.hints.read_only && pair.new.hints.read_only) {
        let (values, also) = with_destructive(pair);
        let message = format!("`readOnlyHint` was false and is true: hosts will stop asking{also}.");
        let finding = T8.finding(Severity::Ack, "/hints/read_only", values, message);
        found.push(finding.of(pair.name()).secure().help("make sure that no path of the tool writes"));
    }
}

/// The values of a finding about `readOnlyHint`. A change of `destructiveHint` beside it belongs to the same finding, and to its
/// fingerprint.
fn with_destructive(pair: &Pair<'_>) -> ((Value, Value), String) {
    let (old, new) = (pair.old.hints, pair.new.hints);
    if old.destructive == new.destructive {
        return ((old.read_only.into(), new.read_only.into()), String::new());
    }
    let both = |hints: Hints| json!({"read_only": hints.read_only, "destructive": hints.destructive});
    let also = format!("; `destructiveHint` was {} and is {}", old.destructive, new.destructive);
    ((both(old), both(new)), also)
}

/// Beside another `readOnlyHint` (T7, T8) it is part of that finding.
pub fn destructive_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    let same_reach = |pair: &&Pair<'_>| pair.old.hints.read_only == pair.new.hints.read_only;
    for pair in change.pairs.iter().filter(same_reach) {
        let (old, new) = (pair.old.hints.destructive, pair.new.hints.destructive);
        let (severity, message) = match (old, new) {
            (false, true) => {
                (Severity::Break, "`destructiveHint` was false and is true: the tool may destroy now.")
            }
            (true, false) => {
                (Severity::Ack, "`destructiveHint` was true and is false: hosts may stop asking for consent.")
            }
            _ => continue,
        };
        let finding = T9.finding(severity, "/hints/destructive", (old, new), message);
        let help = "let this tool do what it did, and put the other effect into a tool of its own";
        found.push(finding.of(pair.name()).secure().help(help));
    }
}

pub fn idempotent_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let (old, new) = (pair.old.hints.idempotent, pair.new.hints.idempotent);
        let (severity, message) = match (old, new) {
            (true, false) => {
                (Severity::Break, "`idempotentHint` was true and is false: repeated calls have effects.")
            }
            (false, true) => (Severity::Info, "`idempotentHint` was false and is true."),
            _ => continue,
        };
        let finding = T10.finding(severity, "/hints/idempotent", (old, new), message).of(pair.name());
        found.push(
            finding.help("keep repeated calls without effect, for instance by a key that clients send"),
        );
    }
}

pub fn reach_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let hints = (pair.old.hints.open_world, pair.new.hints.open_world);
        found.extend(
            reach("openWorldHint", "/hints/open_world", hints).map(|finding| finding.of(pair.name())),
        );
        if let Some((old, new)) = pair.contracts() {
            let flags = reach("network", "/network", (old.network, new.network));
            found.extend(flags.map(|finding| finding.of(pair.name())));
        }
    }
}

fn reach(what: &str, pointer: &str, change: (bool, bool)) -> Option<Finding> {
    match change {
        (false, true) => {
            let message = format!("`{what}` was false and is true: the tool reaches the outside now.");
            let finding = T11.finding(Severity::Ack, pointer, (false, true), message);
            Some(finding.secure().help("check what of the arguments and of the store may leave through it"))
        }
        (true, false) => {
            let message = format!("`{what}` was true and is false.");
            Some(T11.finding(Severity::Info, pointer, (true, false), message))
        }
        _ => None,
    }
}

pub fn task_support_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let (severity, message) = match (pair.old.task_support, pair.new.task_support) {
            (Forbidden, Optional) => (Severity::Info, "The tool can run as a task now."),
            (Required, Optional) => (Severity::Info, "The tool can run as a plain call now."),
            (_, Required) if pair.old.task_support != Required => {
                (Severity::Break, "The tool runs as a task only: plain calls are refused.")
            }
            (Optional | Required, Forbidden) => (Severity::Break, "The tool no longer runs as a task."),
            _ => continue,
        };
        let values = (json!(pair.old.task_support), json!(pair.new.task_support));
        let finding = T13.finding(severity, "/execution/taskSupport", values, message).of(pair.name());
        found.push(finding.help("let `taskSupport` be `optional`, which serves both kinds of client"));
    }
}

pub fn admission_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let mut push = |severity, pointer: &str, values: (Value, Value), message: &str| {
            let finding = T14.finding(severity, pointer, values, message).of(pair.name());
            found.push(finding.help("put what needs another mode or set into a tool of its own"));
        };
        match (old.mutates, new.mutates) {
            (false, true) => push(
                Severity::Break,
                "/mutates",
                (false.into(), true.into()),
                "The tool writes the store now: modes that only read refuse it.",
            ),
            (true, false) => push(
                Severity::Info,
                "/mutates",
                (true.into(), false.into()),
                "The tool no longer writes the store: modes that only read admit it.",
            ),
            _ => {}
        }
        match (old.storeless, new.storeless) {
            (true, false) => push(
                Severity::Break,
                "/storeless",
                (true.into(), false.into()),
                "The tool needs the store now: modes without one refuse it.",
            ),
            (false, true) => push(
                Severity::Info,
                "/storeless",
                (false.into(), true.into()),
                "The tool no longer needs the store: modes without one admit it.",
            ),
            _ => {}
        }
        let sets = (json!(old.toolset), json!(new.toolset));
        match (&old.toolset, &new.toolset) {
            (None, Some(set)) => {
                let message = format!(
                    "The tool is in the toolset `{set}`; without a choice of toolsets, it is offered as before."
                );
                push(Severity::Info, "/toolset", sets, &message);
            }
            (Some(before), after) if after.as_ref() != Some(before) => {
                let message =
                    format!("The tool left the toolset `{before}`: operators who offer that set lose it.");
                push(Severity::Break, "/toolset", sets, &message);
            }
            _ => {}
        }
        if old.domain != new.domain {
            let message = format!("The tool moved from the domain `{}` to `{}`.", old.domain, new.domain);
            let values = (old.domain.as_str().into(), new.domain.as_str().into());
            push(Severity::Ack, "/domain", values, &message);
        }
    }
}

pub fn type_dropped(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    // If clients refuse the old list already, a new tool breaks none.
    let sound = change.old.tools.iter().all(|tool| tool.of_object);
    let dropped = change.pairs.iter().filter(|pair| pair.old.of_object).map(|pair| (pair.name(), pair.new));
    let added = change.added.iter().filter(|_| sound).map(|tool| (tool.name.as_str(), *tool));
    for (name, tool) in dropped.chain(added).filter(|(_, tool)| !tool.of_object) {
        let message = "`inputSchema` does not say `type: object` at its root.";
        let values = (json!({"type": "object"}), tool.input.clone());
        let finding = T17.finding(Severity::Break, "/input/type", values, message).of(name);
        found.push(finding.help("write `type: object` at the root, beside what the schema says"));
    }
}

pub fn stability_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        // Declared from stable to experimental.
        let (severity, verb) = match old.stability.cmp(&new.stability) {
            std::cmp::Ordering::Less => (Severity::Break, "lowered"),
            std::cmp::Ordering::Greater => (Severity::Info, "raised"),
            std::cmp::Ordering::Equal => continue,
        };
        let (old, new) = (json!(old.stability), json!(new.stability));
        let message = format!("The stability was {verb} from {old} to {new}.").replace('"', "`");
        let finding = T15.finding(severity, "/stability", (old, new), message).of(pair.name());
        found.push(
            finding.help("leave it, and make the change that needs it under the rules for stable tools"),
        );
    }
}
