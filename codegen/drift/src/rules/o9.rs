//! O9: object opened or closed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O9",
    direction: Direction::Output,
    title: "object opened or closed",
    why: "readers meet properties that they do not know",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let what = if difference.loses() {
        "may hold any property now"
    } else {
        "holds no property that it does not name"
    };
    let message = format!("`{}` {what}", difference.place);
    difference.graded(&RULE, Severity::Ack, message)
}
