//! O4: optional property made required.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O4",
    direction: Direction::Output,
    title: "optional property made required",
    why: "readers find more than before",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("`{}` is always there now", difference.place);
    difference.graded(&RULE, Severity::Ack, message)
}
