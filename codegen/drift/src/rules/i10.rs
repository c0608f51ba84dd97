//! I10: format added or changed.

use crate::schema::{Difference, SchemaChange, Verdict};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I10",
    direction: Direction::Input,
    title: "format added or changed",
    why: "some validators assert formats, others only note them",
};

/// Whether formats are asserted depends on the validator, so no value decides it.
pub(crate) fn judge(difference: Difference) -> SchemaChange {
    let message = format!("the format of `{}`: {}", difference.place, difference.shift());
    let severity = if difference.new.is_null() { Severity::Info } else { Severity::Ack };
    let difference = Difference { verdict: Verdict::Inside, ..difference };
    difference.judged(&RULE, severity, message)
}
