//! I5: type narrowed, changed or widened.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I5",
    direction: Direction::Input,
    title: "type narrowed, changed or widened",
    why: "calls with a value of the old type are refused",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the type of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}
