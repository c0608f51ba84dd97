//! O5: type widened or narrowed.

use crate::schema::{Branches, Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O5",
    direction: Direction::Output,
    title: "type widened or narrowed",
    why: "readers meet values of a type that they do not expect",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the type of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Break, message)
}

/// A union of several forms of one type.
pub(crate) fn branches(difference: Difference, branches: &Branches) -> SchemaChange {
    let message = branches.shift(&difference.place);
    difference.graded(&RULE, Severity::Break, message)
}

/// The schemas as a whole, when no other finding names the loss.
pub(crate) fn whole(difference: Difference) -> SchemaChange {
    difference.graded(&RULE, Severity::Break, "the output has other values than before".to_owned())
}
