//! E1: a tool answers with a code it had not.

use serde_json::Value;

use crate::errors;
use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "E1",
    direction: Direction::Error,
    title: "error code added",
    why: "calls that worked may fail with a code that no client has a branch for",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let codes = errors::pair(&old.errors, &new.errors);
        let wider = !codes.added.is_empty() && errors::input_is_wider(pair);
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
            let finding = RULE.finding(severity, format!("/errors/{}", error.code), values, message);
            let help = "answer old calls as before; a waiver says for which new calls the code is";
            found.push(finding.of(pair.name()).help(help));
        }
    }
}
