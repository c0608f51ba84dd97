//! I1: required property added, or an optional one made required.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I1",
    direction: Direction::Input,
    title: "required property added, or an optional one made required",
    why: "old calls do not send it, and a default does not help: validators do not apply defaults",
};

/// `new`: the property was not there before.
pub(crate) fn judge(difference: Difference, new: bool) -> SchemaChange {
    let what = if new { "is new and required" } else { "has become required" };
    let message = format!("`{}` {what}", difference.place);
    difference.graded(&RULE, Severity::Break, message)
}
