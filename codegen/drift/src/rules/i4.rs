//! I4: property removed or renamed.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I4",
    direction: Direction::Input,
    title: "property removed or renamed",
    why: "a closed object refuses the calls that still send it; an open one ignores what they say",
};

/// `is_open`: the object still lets properties of that name through.
pub(crate) fn judge(difference: Difference, is_open: bool) -> SchemaChange {
    let message = format!("the property `{}` is gone", difference.place);
    if is_open && !difference.loses() {
        return difference.judged(
            &RULE,
            Severity::Ack,
            format!("{message}; what calls say there is ignored"),
        );
    }
    difference.graded(&RULE, Severity::Break, message)
}
