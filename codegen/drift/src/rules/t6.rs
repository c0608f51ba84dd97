//! T6: what is only shown changed: a tool's title or icons.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T6",
    direction: Direction::Tool,
    title: "title or icons changed",
    why: "they are for display only",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let (old, new) = (&pair.old.title, &pair.new.title);
        if old != new {
            let values = (old.clone(), new.clone());
            found.push(RULE.finding(Severity::Info, "/title", values, "The title changed.").of(pair.name()));
        }
        let (old, new) = (&pair.old.icons, &pair.new.icons);
        if old != new {
            let values = (old.clone(), new.clone());
            found.push(RULE.finding(Severity::Info, "/icons", values, "The icons changed.").of(pair.name()));
        }
    }
}
