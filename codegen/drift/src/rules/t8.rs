//! T8: a tool promises to only read.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T8",
    direction: Direction::Tool,
    title: "`readOnlyHint` false to true",
    why: "it is a promise: hosts will run the tool without asking",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in change.pairs.iter().filter(|pair| !pair.old.hints.read_only && pair.new.hints.read_only) {
        let message = "`readOnlyHint` was false and is true: hosts will stop asking.";
        let finding = RULE.finding(Severity::Ack, "/hints/read_only", (false, true), message);
        found.push(finding.of(pair.name()).secure().help("make sure that no path of the tool writes"));
    }
}
