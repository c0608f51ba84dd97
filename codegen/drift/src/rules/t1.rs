//! T1: a tool is gone.

use serde_json::Value;

use crate::pairing::Comparison;
use crate::snapshot::Tool;
use crate::version::version;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T1",
    direction: Direction::Tool,
    title: "tool removed",
    why: "prompts, skills and permission rules name it, and calls of it fail",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for tool in &change.removed {
        let announced = sunset(tool).filter(|sunset| reached(sunset, change.new.version.as_deref()));
        let (severity, message) = match announced {
            Some(sunset) => {
                (Severity::Info, format!("The tool `{}` is gone, as announced for {sunset}.", tool.name))
            }
            None => (Severity::Break, format!("The tool `{}` is gone.", tool.name)),
        };
        let finding = RULE.finding(severity, "", (tool.name.as_str(), Value::Null), message).of(&tool.name);
        found.push(finding.help(format!(
            "keep `{}`, and state the version from which it may be gone as its `sunset` first",
            tool.name
        )));
    }
}

/// The version from which the old state said that the tool may be gone.
fn sunset(tool: &Tool) -> Option<&str> {
    tool.contract.as_ref()?.sunset.as_deref()
}

fn reached(sunset: &str, current: Option<&str>) -> bool {
    matches!((version(sunset), current.and_then(version)), (Some(sunset), Some(current)) if sunset <= current)
}
