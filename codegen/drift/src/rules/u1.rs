//! U1: something changed that no rule knows. Beyond the chapter: what cannot be decided is never silent.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "U1",
    direction: Direction::Catalogue,
    title: "something changed that no rule knows",
    why: "what the gate cannot judge, a person must",
};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    found.extend(members(&change.old.rest, &change.new.rest));
    for pair in &change.pairs {
        let inside = members(&pair.old.rest, &pair.new.rest);
        found.extend(inside.into_iter().map(|finding| finding.of(pair.name())));
    }
}

fn members(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Finding> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    let finding = |name: &String| {
        let values = (old.get(name).cloned(), new.get(name).cloned());
        let message = format!("`{name}` changed, and no rule knows what that means.");
        RULE.finding(Severity::Ack, format!("/{name}"), values, message)
            .help("find out who reads it, and say so in a waiver")
    };
    changed.map(finding).collect()
}
