//! I2: required property made optional.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I2",
    direction: Direction::Input,
    title: "required property made optional",
    why: "old calls still fit",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("`{}` has become optional", difference.place);
    difference.graded(&RULE, Severity::Break, message)
}
