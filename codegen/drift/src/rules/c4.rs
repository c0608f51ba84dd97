//! C4: the list of tools may be kept by more, or for longer.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "C4",
    direction: Direction::Catalogue,
    title: "`cacheScope` private to public, or `ttlMs` raised",
    why: "a list that others keep leaks, and one that is kept for long is stale",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    if let (Some(old), Some(new)) = (&change.old.cache_scope, &change.new.cache_scope)
        && old != new
    {
        let values = (old.as_str(), new.as_str());
        let message = format!("`cacheScope` was {old} and is {new}.");
        found.push(if new == "private" {
            RULE.finding(Severity::Info, "/cacheScope", values, message)
        } else {
            let finding = RULE.finding(Severity::Ack, "/cacheScope", values, message).secure();
            finding.help("make sure that the list is the same for everybody")
        });
    }
    if let (Some(old), Some(new)) = (change.old.ttl_ms, change.new.ttl_ms)
        && old != new
    {
        let severity = if new > old { Severity::Ack } else { Severity::Info };
        let message = format!("`ttlMs` went from {old} to {new}.");
        let finding = RULE.finding(severity, "/ttlMs", (old, new), message);
        found.push(finding.help("keep it as short as the list's changes are frequent"));
    }
}
