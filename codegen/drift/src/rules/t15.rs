//! T15: clients may rely on less, or on more.

use serde_json::json;

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T15",
    direction: Direction::Tool,
    title: "stability lowered or raised",
    why: "a lowered stability hides the breaks that come after it",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        // Declared from stable to experimental.
        let (severity, verb) = match old.stability.cmp(&new.stability) {
            std::cmp::Ordering::Less => (Severity::Break, "lowered"),
            std::cmp::Ordering::Greater => (Severity::Info, "raised"),
            std::cmp::Ordering::Equal => continue,
        };
        let (old, new) = (json!(old.stability), json!(new.stability));
        let message = format!("The stability was {verb} from {old} to {new}.").replace('"', "`");
        let finding = RULE.finding(severity, "/stability", (old, new), message).of(pair.name());
        found.push(
            finding.help("leave it, and make the change that needs it under the rules for stable tools"),
        );
    }
}
