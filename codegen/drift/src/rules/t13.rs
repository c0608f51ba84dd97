//! T13: whether a tool can run as a task changed.

use serde_json::json;

use crate::pairing::Comparison;
use crate::snapshot::TaskSupport::{Forbidden, Optional, Required};
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T13",
    direction: Direction::Tool,
    title: "task support changed",
    why: "clients without the extension must still work, and those that run it as a task must still be able to",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let (severity, message) = match (pair.old.task_support, pair.new.task_support) {
            (Forbidden, Optional) => (Severity::Info, "The tool can run as a task now."),
            (Required, Optional) => (Severity::Info, "The tool can run as a plain call now."),
            (_, Required) if pair.old.task_support != Required => {
                (Severity::Break, "The tool runs as a task only: plain calls are refused.")
            }
            (Optional | Required, Forbidden) => (Severity::Break, "The tool no longer runs as a task."),
            _ => continue,
        };
        let values = (json!(pair.old.task_support), json!(pair.new.task_support));
        let finding = RULE.finding(severity, "/execution/taskSupport", values, message).of(pair.name());
        found.push(finding.help("let `taskSupport` be `optional`, which serves both kinds of client"));
    }
}
