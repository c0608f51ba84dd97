//! T11: a tool reaches the open world.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T11",
    direction: Direction::Tool,
    title: "`openWorldHint` or `network` changed",
    why: "a tool that reaches the outside is a new way for data to leave",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let hints = (pair.old.hints.open_world, pair.new.hints.open_world);
        found.extend(
            judge("openWorldHint", "/hints/open_world", hints).map(|finding| finding.of(pair.name())),
        );
        if let Some((old, new)) = pair.contracts() {
            let flags = judge("network", "/network", (old.network, new.network));
            found.extend(flags.map(|finding| finding.of(pair.name())));
        }
    }
}

fn judge(what: &str, pointer: &str, change: (bool, bool)) -> Option<Finding> {
    match change {
        (false, true) => {
            let message = format!("`{what}` was false and is true: the tool reaches the outside now.");
            let finding = RULE.finding(Severity::Ack, pointer, (false, true), message);
            Some(finding.secure().help("check what of the arguments and of the store may leave through it"))
        }
        (true, false) => {
            let message = format!("`{what}` was true and is false.");
            Some(RULE.finding(Severity::Info, pointer, (true, false), message))
        }
        _ => None,
    }
}
