//! Rules about the server as a whole: its protocol revisions, name and version; and about members that no rule covers.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{C1, C2, C4, C9, U1};
use crate::rules::pairing::Comparison;
use crate::version::version;
use crate::{Finding, Severity};

const SPOKEN_HELP: &str = "go on answering what old clients speak";

pub fn spoken_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    match (change.old.revisions.as_deref(), change.new.revisions.as_deref()) {
        // One revision each: both states answered the same question.
        (Some([old]), Some([new])) if old != new => {
            let (severity, which) =
                if new < old { (Severity::Break, "older") } else { (Severity::Info, "newer") };
            let message = format!("The server answers with the {which} revision {new} instead of {old}.");
            let finding = C1.finding(severity, "/revisions", (old.as_str(), new.as_str()), message);
            found.push(finding.help(SPOKEN_HELP));
        }
        (Some([_]), Some([_])) => {}
        (Some(old), Some(new)) => sets("revision", "/revisions", old, new, found),
        _ => {}
    }
    if let (Some(old), Some(new)) = (&change.old.capabilities, &change.new.capabilities) {
        sets("capability", "/capabilities", old, new, found);
    }
}

fn sets(what: &str, pointer: &str, old: &[String], new: &[String], found: &mut Vec<Finding>) {
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
    for name in old.difference(&new) {
        let message = format!("The {what} `{name}` is gone.");
        let finding = C1.finding(Severity::Break, pointer, (json!(name), Value::Null), message);
        found.push(finding.help(SPOKEN_HELP));
    }
    for name in new.difference(&old) {
        let message = format!("The {what} `{name}` is new.");
        found.push(C1.finding(Severity::Info, pointer, (Value::Null, json!(name)), message));
    }
}

pub fn name_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    if let (Some(old), Some(new)) = (&change.old.name, &change.new.name)
        && old != new
    {
        let message = format!("The server `{old}` calls itself `{new}`.");
        let finding = C2.finding(Severity::Ack, "/name", (old.as_str(), new.as_str()), message);
        found.push(finding.help("keep `name`; `title` may say anything"));
    }
}

pub fn caching_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    if let (Some(old), Some(new)) = (&change.old.cache_scope, &change.new.cache_scope)
        && old != new
    {
        let values = (old.as_str(), new.as_str());
        let message = format!("`cacheScope` was {old} and is {new}.");
        found.push(if new == "private" {
            C4.finding(Severity::Info, "/cacheScope", values, message)
        } else {
            let finding = C4.finding(Severity::Ack, "/cacheScope", values, message).secure();
            finding.help("make sure that the list is the same for everybody")
        });
    }
    if let (Some(old), Some(new)) = (change.old.ttl_ms, change.new.ttl_ms)
        && old != new
    {
        let severity = if new > old { Severity::Ack } else { Severity::Info };
        let message = format!("`ttlMs` went from {old} to {new}.");
        let finding = C4.finding(severity, "/ttlMs", (old, new), message);
        found.push(finding.help("keep it as short as the list's changes are frequent"));
    }
}

pub fn unknown_changed(change: &Comparison<'_>, found: &mut Vec<Finding>) {
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
        U1.finding(Severity::Ack, format!("/{name}"), values, message)
            .help("find out who reads it, and say so in a waiver")
    };
    changed.map(finding).collect()
}

/// Judges the step from one version to the other. Returns `None` unless both versions are semantic versions.
pub fn version_step(old: Option<&str>, new: Option<&str>, worst: Option<Severity>) -> Option<Finding> {
    let (old, new) = (old?, new?);
    let (from, to) = (version(old)?, version(new)?);
    let needed = next_major(from);
    let (message, help) = if to < from {
        (format!("The version went back from {old} to {new}."), format!("set the version to {old} or above"))
    } else if worst == Some(Severity::Break) && to < needed {
        let [major, minor, patch] = needed;
        let needed = format!("{major}.{minor}.{patch}");
        let message = match old == new {
            true => {
                format!("There is a BREAK, and the version is still {old}; it must be {needed} or above.")
            }
            false => format!("There is a BREAK, and {old} to {new} is too small a step; it takes {needed}."),
        };
        (message, format!("set the version to {needed}"))
    } else {
        return None;
    };
    Some(C9.finding(Severity::Break, "/version", (old, new), message).help(help))
}

/// Returns the version that a break demands: a new major one, or a new minor one while it is 0.x.
pub fn next_major([major, minor, _]: [u64; 3]) -> [u64; 3] {
    if major == 0 { [0, minor.saturating_add(1), 0] } else { [major.saturating_add(1), 0, 0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_take_a_major_step_and_a_minor_one_below_1() {
        let fails = |old, new, worst| version_step(Some(old), Some(new), worst).is_some();
        let broken = Some(Severity::Break);
        for (old, new) in [("0.1.0", "0.1.0"), ("0.1.0", "0.1.9"), ("1.2.3", "1.9.0")] {
            assert!(fails(old, new, broken), "{old} {new}");
            assert!(!fails(old, new, Some(Severity::Ack)), "{old} {new}");
            assert!(!fails(old, new, None), "{old} {new}");
        }
        for (old, new) in [("0.1.0", "0.2.0"), ("0.1.0", "1.0.0"), ("1.2.3", "2.0.0")] {
            assert!(!fails(old, new, broken), "{old} {new}");
        }
        assert!(fails("0.2.0", "0.1.0", None));
        assert!(fails("18446744073709551615.0.0", "18446744073709551614.0.0", broken));
        assert!(version_step(None, Some("0.1.0"), broken).is_none());
    }
}
