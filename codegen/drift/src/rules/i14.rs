//! I14: definitions renamed, references inlined, a schema wrapped in a union of one branch.

use crate::schema::Verdict;
use crate::{Direction, Rule};

/// The rule. It has no finding: it is what keeps the others silent.
pub const RULE: Rule = Rule {
    id: "I14",
    direction: Direction::Input,
    title: "the same schema written in another way",
    why: "what a schema takes is compared, not its text",
};

/// Whether two schemas take the same values, so that no rule about values has anything to say.
pub(crate) fn is_same(loss: &Verdict, gain: &Verdict) -> bool {
    *loss == Verdict::Inside && *gain == Verdict::Inside
}
