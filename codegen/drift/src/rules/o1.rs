//! O1: required property removed or made optional.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O1",
    direction: Direction::Output,
    title: "required property removed or made optional",
    why: "readers index it",
};

/// `gone`: the property is not there any more.
pub(crate) fn judge(difference: Difference, gone: bool) -> SchemaChange {
    let what = if gone { "is gone" } else { "has become optional" };
    let message = format!("the required property `{}` {what}", difference.place);
    difference.graded(&RULE, Severity::Break, message)
}
