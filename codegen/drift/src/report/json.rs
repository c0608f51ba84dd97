//! The report that programs read; `docs/reference/mcp-drift-reports.md` lists its members.

use serde_json::{Value, json};

use super::{Names, headline};
use crate::finding::Finding;
use crate::rules::rule;
use crate::verdict::Verdict;

/// The version of the form. It changes when a member goes or gets another meaning; new members may come without.
pub const FORMAT: u32 = 1;

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
        "format": FORMAT,
        "verdict": headline(verdict),
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
    let rule = rule(finding.rule);
    json!({
        "rule": finding.rule,
        "name": rule.map(|rule| rule.name),
        "link": rule.map(crate::Rule::link),
        "severity": finding.severity,
        "security": finding.security,
        "tool": finding.tool,
        "also": finding.also,
        "pointer": finding.pointer,
        "places": finding.places,
        "fingerprint": finding.fingerprint(),
        "message": finding.message,
        "why": finding.why,
        "help": finding.help,
        "old": finding.old,
        "new": finding.new,
        "witness": finding.witness,
    })
}
