//! I0: keyword changed that the gate does not know.

use crate::schema::{Difference, SchemaChange, Verdict};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I0",
    direction: Direction::Input,
    title: "keyword changed that the gate does not know",
    why: "what is not understood is never taken as safe",
};

pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message =
        format!("a keyword of `{}` that the gate does not know: {}", difference.place, difference.shift());
    let difference = Difference { verdict: Verdict::Inside, ..difference };
    difference.judged(&RULE, Severity::Ack, message)
}
