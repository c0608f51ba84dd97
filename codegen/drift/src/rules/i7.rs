//! I7: bound tightened, newly set or loosened.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I7",
    direction: Direction::Input,
    title: "bound tightened, newly set or loosened",
    why: "calls beyond the new bound are refused; the server enforces it",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("a bound of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}
