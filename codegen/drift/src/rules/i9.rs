//! I9: pattern changed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I9",
    direction: Direction::Input,
    title: "pattern changed",
    why: "calls with a text that only the old pattern takes are refused",
};

/// Inclusion of the languages is decided by automata; a witness holds the shortest string that only the old
/// pattern takes.
pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the pattern of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}
