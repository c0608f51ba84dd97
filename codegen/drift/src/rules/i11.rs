//! I11: object closed or opened.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I11",
    direction: Direction::Input,
    title: "object closed or opened",
    why: "a closed object refuses properties that were let through; an open one does not notice typing errors",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = if difference.loses() {
        format!("`{}` no longer takes properties that it does not name", difference.place)
    } else {
        format!("`{}` takes any property now, so that typing errors go unnoticed", difference.place)
    };
    difference.graded(&RULE, Severity::Break, message)
}
