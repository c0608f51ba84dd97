//! O3: property added.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O3",
    direction: Direction::Output,
    title: "property added",
    why: "readers with a cached schema or strict generated types reject what is new to them",
};

/// `was_open`: readers had to expect properties of that name.
pub(crate) fn judge(difference: Difference, was_open: bool) -> SchemaChange {
    let message = format!("the property `{}` is new", difference.place);
    let severity = if was_open && !difference.loses() { Severity::Info } else { Severity::Ack };
    difference.judged(&RULE, severity, message)
}
