//! I12: default changed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I12",
    direction: Direction::Input,
    title: "default changed",
    why: "the same call has another effect",
};

/// `may_be_absent`: old calls could leave the argument out; otherwise its default has no effect.
pub(crate) fn judge(difference: Difference, may_be_absent: bool) -> SchemaChange {
    let message = format!("the default of `{}`: {}", difference.place, difference.shift());
    let severity = if may_be_absent { Severity::Break } else { Severity::Info };
    difference.judged(&RULE, severity, message)
}
