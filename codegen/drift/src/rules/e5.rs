//! E5: the text of an error changed.

use crate::errors;
use crate::pairing::Comparison;
use crate::snapshot::ErrorPattern;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "E5",
    direction: Direction::Error,
    title: "message text changed",
    why: "clients match the code at the start of a message (`CODE: …`), and nothing after it",
};

const HELP: &str = "leave what stands before the first colon as it was";

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for before in &old.errors {
            let Some(after) = new.errors.iter().find(|error| error.code == before.code) else { continue };
            let pointer = format!("/errors/{}", before.code);
            if before.prefix != after.prefix && new.pattern == ErrorPattern::A {
                let what = if after.prefix { "starts with" } else { "no longer starts with" };
                let message = format!("The message of `{0}` {what} `{0}: `.", before.code);
                let values = (before.prefix, after.prefix);
                let finding = RULE.finding(Severity::Break, format!("{pointer}/prefix"), values, message);
                found.push(finding.of(pair.name()).help(HELP));
            }
            if before.message != after.message {
                let message = format!("The message of `{}` changed.", before.code);
                let values = (before.message.as_str(), after.message.as_str());
                let finding = RULE.finding(Severity::Info, format!("{pointer}/message"), values, message);
                found.push(finding.of(pair.name()));
            }
        }
    }
    for (old, new) in errors::roles(change).filter(|(old, new)| old.message != new.message) {
        // A changed code is E2's; what stands before the colon otherwise is part of the contract too.
        let same = errors::prefix(old) == errors::prefix(new) || old.code != new.code;
        let severity = if same { Severity::Info } else { Severity::Break };
        let message = format!("The message of the chain's code `{}` changed.", old.code);
        let values = (old.message.as_str(), new.message.as_str());
        let finding = RULE.finding(severity, format!("/chain/{}/message", old.role), values, message);
        found.push(finding.help(HELP));
    }
}
