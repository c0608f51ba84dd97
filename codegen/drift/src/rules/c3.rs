//! C3: the model is told something else about the server.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "C3",
    direction: Direction::Catalogue,
    title: "`instructions` changed",
    why: "they go straight to the model",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    if let (Some(old), Some(new)) = (&change.old.instructions, &change.new.instructions)
        && old != new
    {
        let values = (old.as_str(), new.as_str());
        let finding = RULE.finding(Severity::Ack, "/instructions", values, "The instructions changed.");
        found.push(finding.secure().help("read them as a model would: do they speak of this server only?"));
    }
}
