//! T2: a tool goes by another name.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T2",
    direction: Direction::Tool,
    title: "tool renamed",
    why: "hosts key their permissions by name (`mcp__server__tool`), and calls of the old name fail",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in change.pairs.iter().filter(|pair| pair.renamed()) {
        let (old, new) = (pair.old.name.as_str(), pair.new.name.as_str());
        let message = format!("The tool `{old}` is now `{new}`: a new name with equal schemas.");
        let finding = RULE.finding(Severity::Break, "/name", (old, new), message).of(old);
        found.push(finding.help(format!("keep the name `{old}`; `title` may say anything")));
    }
}
