//! C2: the server has another name.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "C2",
    direction: Direction::Catalogue,
    title: "server `name` changed",
    why: "permission keys and host configurations (`.mcp.json`) carry it",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    if let (Some(old), Some(new)) = (&change.old.name, &change.new.name)
        && old != new
    {
        let message = format!("The server `{old}` calls itself `{new}`.");
        let finding = RULE.finding(Severity::Break, "/name", (old.as_str(), new.as_str()), message);
        found.push(finding.help("keep `name`; `title` may say anything"));
    }
}
