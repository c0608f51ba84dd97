//! The pins of wrapped servers, and the lists of tools that wait to be accepted.

use colibri_runtime::handler::Fault;

use super::Finding;
use crate::domains::wrap::store::pinned_names;
use crate::domains::wrap::unlikes;
use colibri_store::Db;

const CHECK: &str = "wraps";

/// Names the servers that have another list than the pinned one. Without pins there is nothing to say; a list that cannot be read is
/// a finding of the content.
pub(super) fn check(db: &Db) -> Vec<Finding> {
    findings(db).unwrap_or_default()
}

fn findings(db: &Db) -> Result<Vec<Finding>, Fault> {
    let names = pinned_names(db)?;
    let mut findings = Vec::new();
    for name in &names {
        let waiting = unlikes(db, name)?.waiting;
        if let Some(newest) = waiting.last() {
            let others = match waiting.len() {
                1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            let message = format!("{name} has another list since {}{others}", newest.at);
            findings.push(Finding::warn(CHECK, message, format!("colibri pins diff {name}")));
        }
    }
    if findings.is_empty() && !names.is_empty() {
        let names = if names.len() == 1 { "1 name".to_owned() } else { format!("{} names", names.len()) };
        findings.push(Finding::ok(CHECK, format!("{names} pinned")));
    }
    Ok(findings)
}
