//! O11: errors stand elsewhere in the reply.

use serde_json::json;

use crate::pairing::Comparison;
use crate::snapshot::ErrorPattern;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O11",
    direction: Direction::Output,
    title: "envelope pattern changed",
    why: "clients look for errors in one place: at the top with `isError`, or inside `data`",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        if old.pattern == new.pattern {
            continue;
        }
        let message = match new.pattern {
            ErrorPattern::A => {
                "Errors stand at the top of the reply with `isError: true`, no longer in `data`."
            }
            ErrorPattern::B => {
                "Errors stand in `data` with `isError: false`, no longer at the top of the reply."
            }
        };
        let finding =
            RULE.finding(Severity::Break, "/pattern", (json!(old.pattern), json!(new.pattern)), message);
        found.push(finding.of(pair.name()).help("leave the pattern, or add a tool that has the other one"));
    }
}
