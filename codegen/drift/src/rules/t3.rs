//! T3: a tool came.

use serde_json::Value;

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T3",
    direction: Direction::Tool,
    title: "tool added",
    why: "every listed tool costs every user context",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for tool in &change.added {
        let message = format!("The tool `{}` is new.", tool.name);
        let values = (Value::Null, tool.name.as_str());
        found.push(RULE.finding(Severity::Info, "", values, message).of(&tool.name));
    }
    // The lint holds a catalogue to its budget: past the old one it gets only by raising it.
    let (Some(old), Some(new)) = (change.old.budget, change.new.budget) else { return };
    if new > old && !change.added.is_empty() {
        let message =
            format!("The budget of the tool list went from {old} to {new} bytes, and tools were added.");
        let finding = RULE.finding(Severity::Ack, "/budget/tools_list_bytes", (old, new), message);
        found.push(finding.help("shorten descriptions, or make one tool of several, and leave the budget"));
    }
}
