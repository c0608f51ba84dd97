//! T7: a tool no longer promises to only read.

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "T7",
    direction: Direction::Tool,
    title: "`readOnlyHint` true to false or absent",
    why: "hosts approve read-only tools by themselves; approvals given before would now cover writes",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in change.pairs.iter().filter(|pair| pair.old.hints.read_only && !pair.new.hints.read_only) {
        let message = "`readOnlyHint` was true and is false: the tool may write now.";
        let finding = RULE.finding(Severity::Break, "/hints/read_only", (true, false), message);
        found
            .push(finding.of(pair.name()).secure().help("leave this tool as it is, and add one that writes"));
    }
}
