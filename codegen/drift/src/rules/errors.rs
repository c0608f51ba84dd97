//! Rules about the errors that a tool and the call chain answer with.

use serde_json::{Map, Value, json};

use super::changes::compare;
use super::{E1, E2, E3, E4, E5, E6};
use crate::rules::pairing::{Comparison, Pair, are_near};
use crate::schema::Direction;
use crate::snapshot::{ChainCode, ErrorPattern, Snapshot, ToolError};
use crate::{Finding, Severity};

pub fn added(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let codes = codes(&old.errors, &new.errors);
        let wider = !codes.added.is_empty() && input_is_wider(pair);
        for error in codes.added {
            let (severity, message) = if wider {
                let message = format!(
                    "The code `{}` is new; the input takes more, and it may be for that only.",
                    error.code
                );
                (Severity::Ack, message)
            } else {
                (
                    Severity::Break,
                    format!("The code `{}` is new, for calls that could be made before.", error.code),
                )
            };
            let values = (Value::Null, error.code.as_str());
            let finding = E1.finding(severity, format!("/errors/{}", error.code), values, message);
            let help = "answer old calls as before; a waiver says for which new calls the code is";
            found.push(finding.of(pair.name()).help(help));
        }
    }
}

const CODE_HELP: &str = "keep the code; its message may say anything after it";

pub fn removed_or_renamed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let codes = codes(&old.errors, &new.errors);
        for (old, new) in codes.renamed {
            let message = format!("The code `{}` is now `{}`.", old.code, new.code);
            let values = (old.code.as_str(), new.code.as_str());
            let finding = E2.finding(Severity::Break, format!("/errors/{}", old.code), values, message);
            found.push(finding.of(pair.name()).help(CODE_HELP));
        }
        for error in codes.removed {
            let message = format!("The code `{}` is gone.", error.code);
            let values = (error.code.as_str(), Value::Null);
            let finding = E2.finding(Severity::Ack, format!("/errors/{}", error.code), values, message);
            found.push(finding.of(pair.name()).help("make sure that no client waits for it"));
        }
    }
    for (old, new) in roles(change) {
        if old.code != new.code {
            let message = format!("The chain's code `{}` is now `{}`.", old.code, new.code);
            let values = (old.code.as_str(), new.code.as_str());
            let finding = E2.finding(Severity::Break, format!("/chain/{}/code", old.role), values, message);
            found.push(finding.help(CODE_HELP));
        }
    }
}

const CLASS_HELP: &str = "give the new class a code of its own";

pub fn class_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for (old, new) in roles(change) {
        let (Some(before), Some(after)) = (&old.answered, &new.answered) else { continue };
        if before != after {
            let message = format!("The code `{}` was answered as {before}, and is as {after}.", old.code);
            let values = (before.as_str(), after.as_str());
            let finding =
                E3.finding(Severity::Break, format!("/chain/{}/answered", old.role), values, message);
            found.push(finding.help(CLASS_HELP));
        }
    }
    let (Some(old), Some(new)) = (&change.old.chain, &change.new.chain) else { return };
    for before in old {
        // The same code elsewhere: a client that knows the code expects its old meaning.
        let moved = new.iter().find(|after| after.code == before.code && after.role != before.role);
        let stays = new.iter().any(|after| after.code == before.code && after.role == before.role);
        if let Some(after) = moved.filter(|_| !stays) {
            let message = format!(
                "The code `{}` stood for `{}` and stands for `{}`.",
                before.code, before.role, after.role
            );
            let values = (before.role.as_str(), after.role.as_str());
            let finding = E3.finding(Severity::Break, format!("/chain/{}", before.role), values, message);
            found.push(finding.help(CLASS_HELP));
        }
    }
    for pair in &change.pairs {
        let Some((before, after)) = pair.contracts() else { continue };
        for error in &before.errors {
            let kept = after.errors.iter().any(|other| other.code == error.code);
            if let Some(role) = new.iter().find(|role| role.code == error.code).filter(|_| !kept) {
                let message = format!(
                    "The code `{}` was the tool's own and is the chain's, for `{}`.",
                    error.code, role.role
                );
                let values = (Value::from("tool"), role.role.as_str());
                let finding = E3.finding(Severity::Break, format!("/errors/{}", error.code), values, message);
                found.push(finding.of(pair.name()).help(CLASS_HELP));
            }
        }
    }
}

pub fn details_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for before in &old.errors {
            let Some(after) = new.errors.iter().find(|error| error.code == before.code) else { continue };
            if before.fields == after.fields {
                continue;
            }
            for inner in compare(&details(before), &details(after), Direction::Output) {
                let pointer = format!("/errors/{}/fields{}", before.code, inner.pointer);
                let message =
                    format!("In the details of `{}` ({}): {}.", before.code, inner.rule, inner.message);
                let finding = E4.finding(inner.severity, pointer, (inner.old, inner.new), message);
                let help = "leave details as they are, and add new ones beside them";
                found.push(Finding { witness: inner.witness, ..finding.of(pair.name()).help(help) });
            }
        }
    }
}

/// The details as one schema: all are always present, and more may come.
fn details(error: &ToolError) -> Value {
    let names: Vec<&String> = error.fields.keys().collect();
    let properties: &Map<String, Value> = &error.fields;
    json!({"type": "object", "properties": properties, "required": names})
}

const MESSAGE_HELP: &str = "leave what stands before the first colon as it was";

pub fn message_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for before in &old.errors {
            let Some(after) = new.errors.iter().find(|error| error.code == before.code) else { continue };
            let pointer = format!("/errors/{}", before.code);
            if before.prefix != after.prefix && new.pattern == ErrorPattern::A {
                let what = if after.prefix { "starts with" } else { "no longer starts with" };
                let message = format!("The message of `{0}` {what} `{0}: `.", before.code);
                let values = (before.prefix, after.prefix);
                let finding = E5.finding(Severity::Break, format!("{pointer}/prefix"), values, message);
                found.push(finding.of(pair.name()).help(MESSAGE_HELP));
            }
            if before.message != after.message {
                let message = format!("The message of `{}` changed.", before.code);
                let values = (before.message.as_str(), after.message.as_str());
                let finding = E5.finding(Severity::Info, format!("{pointer}/message"), values, message);
                found.push(finding.of(pair.name()));
            }
        }
    }
    for (old, new) in roles(change).filter(|(old, new)| old.message != new.message) {
        // A changed code belongs to E2; any other text before the colon is part of the contract, too.
        let same = prefix(old) == prefix(new) || old.code != new.code;
        let severity = if same { Severity::Info } else { Severity::Break };
        let message = format!("The message of the chain's code `{}` changed.", old.code);
        let values = (old.message.as_str(), new.message.as_str());
        let finding = E5.finding(severity, format!("/chain/{}/message", old.role), values, message);
        found.push(finding.help(MESSAGE_HELP));
    }
}

const REMEDY_HELP: &str =
    "read it as a model would: does it help with this error, and does it ask for nothing else?";

pub fn remedy_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    if !tells_remedies(change.old) {
        found.extend(first_remedies(change));
        return;
    }
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for before in &old.errors {
            let Some(after) = new.errors.iter().find(|error| error.code == before.code) else { continue };
            let mut push = |member: &str, words: &str, values: (Value, Value)| {
                if values.0 != values.1 {
                    let pointer = format!("/errors/{}/{member}", before.code);
                    let message = format!("{words} of `{}` changed.", before.code);
                    let finding = E6.finding(Severity::Ack, pointer, values, message);
                    found.push(finding.of(pair.name()).secure().help(REMEDY_HELP));
                }
            };
            push("remedy", "The remedy", (json!(before.remedy), json!(after.remedy)));
            push("next", "The list of helpful calls", (json!(before.next), json!(after.next)));
        }
    }
    for (old, new) in roles(change).filter(|(old, new)| old.remedy != new.remedy) {
        let message = format!("The remedy of the chain's code `{}` changed.", old.code);
        let values = (json!(old.remedy), json!(new.remedy));
        let finding = E6.finding(Severity::Ack, format!("/chain/{}/remedy", old.role), values, message);
        found.push(finding.secure().help(REMEDY_HELP));
    }
}

/// Checks whether a state tells remedies at all: a lock of an older compiler has none.
fn tells_remedies(state: &Snapshot) -> bool {
    let contracts = state.tools.iter().filter_map(|tool| tool.contract.as_ref());
    contracts
        .flat_map(|contract| &contract.errors)
        .any(|error| error.remedy.is_some() || !error.next.is_empty())
        || state.chain.iter().flatten().any(|role| role.remedy.is_some())
}

/// Returns one finding for all remedies when they come for the first time: a person reads them together.
fn first_remedies(change: &Comparison<'_>) -> Option<Finding> {
    let told = |remedy: &Option<String>, next: &[Value]| json!({ "remedy": remedy, "next": next });
    let mut all = Map::new();
    for pair in &change.pairs {
        let Some((_, new)) = pair.contracts() else { continue };
        for error in new.errors.iter().filter(|error| error.remedy.is_some() || !error.next.is_empty()) {
            all.insert(format!("{} {}", pair.new.name, error.code), told(&error.remedy, &error.next));
        }
    }
    for (_, role) in roles(change).filter(|(_, role)| role.remedy.is_some()) {
        all.insert(format!("chain {}", role.code), told(&role.remedy, &[]));
    }
    if all.is_empty() {
        return None;
    }
    let message = format!("The errors say for the first time what to do about them, {} of them.", all.len());
    let finding = E6.finding(Severity::Ack, "/errors", (Value::Null, Value::Object(all)), message);
    Some(finding.secure().help(REMEDY_HELP))
}

/// The codes of a tool, before and after.
struct Codes<'a> {
    added: Vec<&'a ToolError>,
    removed: Vec<&'a ToolError>,
    renamed: Vec<(&'a ToolError, &'a ToolError)>,
}

/// Finds the codes that were added, removed or renamed; a renamed one has a similar name and the same details.
fn codes<'a>(old: &'a [ToolError], new: &'a [ToolError]) -> Codes<'a> {
    let lacks = |list: &[ToolError], code: &str| list.iter().all(|error| error.code != code);
    let mut removed: Vec<&ToolError> = old.iter().filter(|error| lacks(new, &error.code)).collect();
    let (mut added, mut renamed) = (Vec::new(), Vec::new());
    for error in new.iter().filter(|error| lacks(old, &error.code)) {
        let same = |gone: &&ToolError| gone.fields == error.fields && are_near(&gone.code, &error.code);
        match removed.iter().position(same) {
            Some(index) => renamed.push((removed.remove(index), error)),
            None => added.push(error),
        }
    }
    Codes { added, removed, renamed }
}

/// Checks whether the input accepts more than before: then a new code may belong to the new values alone.
fn input_is_wider(pair: &Pair<'_>) -> bool {
    // In the other direction a widened input is a narrowed one, which breaks.
    compare(&pair.new.input, &pair.old.input, Direction::Input)
        .iter()
        .any(|change| change.severity == Severity::Break)
}

/// The chain's roles that both states have.
fn roles<'a>(change: &Comparison<'a>) -> impl Iterator<Item = (&'a ChainCode, &'a ChainCode)> {
    let (old, new) = (change.old.chain.as_deref(), change.new.chain.as_deref().unwrap_or_default());
    old.unwrap_or_default()
        .iter()
        .filter_map(|before| Some((before, new.iter().find(|after| after.role == before.role)?)))
}

/// Returns the text before the first colon of a message that starts with its code.
fn prefix(code: &ChainCode) -> Option<&str> {
    code.message.split_once(':').map(|(prefix, _)| prefix).filter(|prefix| *prefix == code.code)
}
