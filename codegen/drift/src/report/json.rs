//! The report programs read.

use serde_json::{Value, json};

use super::Names;
use crate::finding::Finding;
use crate::verdict::Verdict;

/// The verdict as pretty-printed JSON with a final newline.
#[must_use]
pub fn json(verdict: &Verdict, names: &Names) -> String {
    let list = |findings: &[Finding]| -> Vec<Value> { findings.iter().map(finding).collect() };
    let waived: Vec<Value> = verdict
        .waived
        .iter()
        .map(|(found, reason)| {
            let mut value = finding(found);
            value["reason"] = json!(reason);
            value
        })
        .collect();
    let value = json!({
        "passes": verdict.passes(),
        "old": {"name": names.old, "version": verdict.old_version},
        "new": {"name": names.new, "version": verdict.new_version},
        "needed_version": verdict.needed_version(),
        "blocking": list(&verdict.blocking),
        "failures": list(&verdict.failures),
        "waived": waived,
        "listed": list(&verdict.listed),
    });
    format!("{value:#}\n")
}

fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule,
        "severity": finding.severity,
        "security": finding.security,
        "tool": finding.tool,
        "also": finding.also,
        "pointer": finding.pointer,
        "fingerprint": finding.fingerprint(),
        "message": finding.message,
        "why": finding.why,
        "help": finding.help,
        "old": finding.old,
        "new": finding.new,
        "witness": finding.witness,
    })
}
