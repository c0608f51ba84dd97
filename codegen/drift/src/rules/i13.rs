//! I13: branch of a union or another condition added or removed.

use crate::schema::{Branches, Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I13",
    direction: Direction::Input,
    title: "branch of a union or another condition added or removed",
    why: "calls that fit only what was removed, or do not meet what was added, are refused",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("a condition of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}

/// A union of several forms of one type.
pub(crate) fn branches(difference: Difference, branches: &Branches) -> SchemaChange {
    let message = branches.shift(&difference.place);
    difference.graded(&RULE, Severity::Break, message)
}

/// The schemas as a whole, when no other finding names the loss.
pub(crate) fn whole(difference: Difference) -> SchemaChange {
    difference.graded(&RULE, Severity::Break, "the input takes other values than before".to_owned())
}
