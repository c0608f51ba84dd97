//! I8: pattern added or removed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I8",
    direction: Direction::Input,
    title: "pattern added or removed",
    why: "calls with a text that does not match are refused",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the pattern of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}
