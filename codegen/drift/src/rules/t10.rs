//! T10: calling a tool twice does no longer what calling it once does.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T10",
    direction: Direction::Tool,
    title: "`idempotentHint` changed",
    why: "agents repeat idempotent calls blindly; without the promise effects double",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let (old, new) = (pair.old.hints.idempotent, pair.new.hints.idempotent);
        let (severity, message) = match (old, new) {
            (true, false) => {
                (Severity::Break, "`idempotentHint` was true and is false: repeated calls have effects.")
            }
            (false, true) => (Severity::Info, "`idempotentHint` was false and is true."),
            _ => continue,
        };
        let finding = RULE.finding(severity, "/hints/idempotent", (old, new), message).of(pair.name());
        found.push(
            finding.help("keep repeated calls without effect, for instance by a key that clients send"),
        );
    }
}
