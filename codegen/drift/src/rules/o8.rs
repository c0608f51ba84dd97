//! O8: pattern removed, changed or added.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O8",
    direction: Direction::Output,
    title: "pattern removed, changed or added",
    why: "ids and hashes get parsed",
};

/// Formats are judged like patterns.
pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the pattern of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Ack, message)
}
