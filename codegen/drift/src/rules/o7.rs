//! O7: bound loosened, removed or tightened.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O7",
    direction: Direction::Output,
    title: "bound loosened, removed or tightened",
    why: "fixed buffers, columns and prompts were made for the old bound",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("a bound of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}
