//! T14: other modes or sets of tools admit a tool.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T14",
    direction: Direction::Tool,
    title: "toolset or mode that admits the tool changed",
    why: "users filter by toolset, and a mode is a promise of what runs in it",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        let mut push =
            |severity, pointer: &str, values: (serde_json::Value, serde_json::Value), message: &str| {
                let finding = RULE.finding(severity, pointer, values, message).of(pair.name());
                found.push(finding.help("put what needs another mode or set into a tool of its own"));
            };
        match (old.mutates, new.mutates) {
            (false, true) => push(
                Severity::Break,
                "/mutates",
                (false.into(), true.into()),
                "The tool writes the store now: modes that only read refuse it.",
            ),
            (true, false) => push(
                Severity::Info,
                "/mutates",
                (true.into(), false.into()),
                "The tool no longer writes the store: modes that only read admit it.",
            ),
            _ => {}
        }
        match (old.storeless, new.storeless) {
            (true, false) => push(
                Severity::Break,
                "/storeless",
                (true.into(), false.into()),
                "The tool needs the store now: modes without one refuse it.",
            ),
            (false, true) => push(
                Severity::Info,
                "/storeless",
                (false.into(), true.into()),
                "The tool no longer needs the store: modes without one admit it.",
            ),
            _ => {}
        }
        if old.domain != new.domain {
            let message = format!("The tool moved from the domain `{}` to `{}`.", old.domain, new.domain);
            let values = (old.domain.as_str().into(), new.domain.as_str().into());
            push(Severity::Ack, "/domain", values, &message);
        }
    }
}
