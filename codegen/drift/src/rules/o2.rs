//! O2: optional property removed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O2",
    direction: Direction::Output,
    title: "optional property removed",
    why: "readers that look for it find nothing any more",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the optional property `{}` is gone", difference.place);
    difference.judged(&RULE, Severity::Ack, message)
}
