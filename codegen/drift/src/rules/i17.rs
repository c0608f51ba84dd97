//! I17: description of a property changed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I17",
    direction: Direction::Input,
    title: "description of a property changed",
    why: "models fill arguments from it",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the description of `{}` changed", difference.place);
    difference.judged(&RULE, Severity::Ack, message)
}
