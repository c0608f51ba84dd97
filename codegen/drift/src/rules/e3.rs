//! E3: a code is of another class: it means another role of the chain, or reaches clients another way.

use serde_json::Value;

use crate::errors;
use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "E3",
    direction: Direction::Error,
    title: "class of a code changed",
    why: "whether a code is a result or a protocol error, and what kind it is, drives retry loops",
};

const HELP: &str = "give the new class a code of its own";

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for (old, new) in errors::roles(change) {
        let (Some(before), Some(after)) = (&old.answered, &new.answered) else { continue };
        if before != after {
            let message = format!("The code `{}` was answered as {before}, and is as {after}.", old.code);
            let values = (before.as_str(), after.as_str());
            let finding =
                RULE.finding(Severity::Break, format!("/chain/{}/answered", old.role), values, message);
            found.push(finding.help(HELP));
        }
    }
    let (Some(old), Some(new)) = (&change.old.chain, &change.new.chain) else { return };
    for before in old {
        // The same code elsewhere: a client that knows it takes it for what it was.
        let moved = new.iter().find(|after| after.code == before.code && after.role != before.role);
        let stays = new.iter().any(|after| after.code == before.code && after.role == before.role);
        if let Some(after) = moved.filter(|_| !stays) {
            let message = format!(
                "The code `{}` stood for `{}` and stands for `{}`.",
                before.code, before.role, after.role
            );
            let values = (before.role.as_str(), after.role.as_str());
            let finding = RULE.finding(Severity::Break, format!("/chain/{}", before.role), values, message);
            found.push(finding.help(HELP));
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
                let finding =
                    RULE.finding(Severity::Break, format!("/errors/{}", error.code), values, message);
                found.push(finding.of(pair.name()).help(HELP));
            }
        }
    }
}
