//! I6: value of an enum removed or added.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I6",
    direction: Direction::Input,
    title: "value of an enum removed or added",
    why: "calls with a value that is no longer listed are refused",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the values of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}
