//! E2: a code is gone or has another name.

use serde_json::Value;

use crate::errors;
use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "E2",
    direction: Direction::Error,
    title: "error code removed or renamed",
    why: "a removed code leaves dead branches in clients, a renamed one is missed by them",
};

const HELP: &str = "keep the code; its message may say anything after it";

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let codes = errors::pair(&old.errors, &new.errors);
        for (old, new) in codes.renamed {
            let message = format!("The code `{}` is now `{}`.", old.code, new.code);
            let values = (old.code.as_str(), new.code.as_str());
            let finding = RULE.finding(Severity::Break, format!("/errors/{}", old.code), values, message);
            found.push(finding.of(pair.name()).help(HELP));
        }
        for error in codes.removed {
            let message = format!("The code `{}` is gone.", error.code);
            let values = (error.code.as_str(), Value::Null);
            let finding = RULE.finding(Severity::Ack, format!("/errors/{}", error.code), values, message);
            found.push(finding.of(pair.name()).help("make sure that no client waits for it"));
        }
    }
    for (old, new) in errors::roles(change) {
        if old.code != new.code {
            let message = format!("The chain's code `{}` is now `{}`.", old.code, new.code);
            let values = (old.code.as_str(), new.code.as_str());
            let finding = RULE.finding(Severity::Break, format!("/chain/{}/code", old.role), values, message);
            found.push(finding.help(HELP));
        }
    }
}
