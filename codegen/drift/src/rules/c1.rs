//! C1: the server speaks other revisions of the protocol, or has other capabilities and extensions.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "C1",
    direction: Direction::Catalogue,
    title: "protocol revision or extension dropped or added",
    why: "a client that speaks only what was dropped can no longer talk to the server",
};

const HELP: &str = "go on answering what old clients speak";

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    match (change.old.revisions.as_deref(), change.new.revisions.as_deref()) {
        // One revision each: what it answered to the same question.
        (Some([old]), Some([new])) if old != new => {
            let (severity, which) =
                if new < old { (Severity::Break, "older") } else { (Severity::Info, "newer") };
            let message = format!("The server answers with the {which} revision {new} instead of {old}.");
            let finding = RULE.finding(severity, "/revisions", (old.as_str(), new.as_str()), message);
            found.push(finding.help(HELP));
        }
        (Some([_]), Some([_])) => {}
        (Some(old), Some(new)) => sets("revision", "/revisions", old, new, found),
        _ => {}
    }
    if let (Some(old), Some(new)) = (&change.old.capabilities, &change.new.capabilities) {
        sets("capability", "/capabilities", old, new, found);
    }
}

fn sets(what: &str, pointer: &str, old: &[String], new: &[String], found: &mut Vec<Finding>) {
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
    for name in old.difference(&new) {
        let message = format!("The {what} `{name}` is gone.");
        let finding = RULE.finding(Severity::Break, pointer, (json!(name), Value::Null), message);
        found.push(finding.help(HELP));
    }
    for name in new.difference(&old) {
        let message = format!("The {what} `{name}` is new.");
        found.push(RULE.finding(Severity::Info, pointer, (Value::Null, json!(name)), message));
    }
}
