//! I3: optional property added.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I3",
    direction: Direction::Input,
    title: "optional property added",
    why: "where any property was allowed, the name may have carried free data",
};

/// `was_open`: the object let through properties of that name before.
pub(crate) fn judge(difference: Difference, was_open: bool) -> SchemaChange {
    let message = format!("the optional property `{}` is new", difference.place);
    let severity = if was_open || difference.loses() { Severity::Ack } else { Severity::Info };
    difference.judged(&RULE, severity, message)
}
