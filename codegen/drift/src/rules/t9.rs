//! T9: a tool may destroy, or no longer says so.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T9",
    direction: Direction::Tool,
    title: "`destructiveHint` changed",
    why: "consent prompts appear or vanish (absent means true)",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
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
        let finding = RULE.finding(severity, "/hints/destructive", (old, new), message);
        let help = "let this tool do what it did, and put the other effect into a tool of its own";
        found.push(finding.of(pair.name()).secure().help(help));
    }
}
