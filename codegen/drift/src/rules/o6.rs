//! O6: value of an enum added or removed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O6",
    direction: Direction::Output,
    title: "value of an enum added or removed",
    why: "exhaustive matches fail on a value that they do not know",
};

/// A list with a way out (`anyOf` of the list and `string`) is open, and takes new values without a finding.
pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the values of `{}`: {}", difference.place, difference.shift());
    difference.graded(&RULE, Severity::Ack, message)
}
