//! O10: a tool declares the shape of its results, or no longer.

use serde_json::Value;

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "O10",
    direction: Direction::Output,
    title: "`outputSchema` added or removed",
    why: "once declared, results and errors must fit it, and clients read the structured content",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let finding = match (&pair.old.output, &pair.new.output) {
            (None, Some(new)) => RULE.finding(
                Severity::Info,
                "/output",
                (Value::Null, new.clone()),
                "Results have a schema now.",
            ),
            (Some(old), None) => RULE.finding(
                Severity::Break,
                "/output",
                (old.clone(), Value::Null),
                "Results no longer have a schema.",
            ),
            _ => continue,
        };
        found.push(finding.of(pair.name()).help("keep the schema, and keep results within it"));
    }
}
