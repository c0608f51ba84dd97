//! A rule about hosts: what they refuse now and took before.

use std::collections::BTreeSet;

use serde_json::Value;

use super::H1;
use crate::hosts::{Effect, remarks};
use crate::rules::pairing::Comparison;
use crate::{Finding, Severity};

/// A finding of its own says that `type: object` is gone.
const TOLD_ELSEWHERE: [&str; 1] = ["root-not-object"];

pub fn refused(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    let old = remarks(change.old);
    let before: BTreeSet<_> =
        old.iter().map(|remark| (remark.row.name, remark.tool.as_deref(), remark.pointer.as_str())).collect();
    let rows: BTreeSet<&str> = old.iter().map(|remark| remark.row.name).collect();
    for remark in remarks(change.new) {
        let row = remark.row;
        let tool = remark.tool.as_deref();
        if before.contains(&(row.name, tool, remark.pointer.as_str())) || TOLD_ELSEWHERE.contains(&row.name) {
            continue;
        }
        let was_there = tool.is_none_or(|name| change.old.tool(name).is_some());
        let severity = match row.effect {
            // A client that refuses the old list already cannot break, and one that drops something does so already.
            Effect::ListRefused | Effect::Degraded if rows.contains(row.name) => continue,
            Effect::ListRefused => Severity::Break,
            Effect::ToolRefused if was_there => Severity::Break,
            Effect::ToolRefused | Effect::Degraded => Severity::Info,
        };
        let mut detail = remark.detail.clone();
        if let Some(first) = detail.get(..1).map(str::to_ascii_uppercase) {
            detail.replace_range(..1, &first);
        }
        let message = format!("{detail}. {}", row.seen);
        let finding = H1.finding(severity, remark.pointer, (Value::Null, row.name), message);
        let finding = Finding { tool: remark.tool, ..finding };
        found.push(finding.help(format!("{}; reported on {} at {}", row.help, row.date, row.source)));
    }
}
