//! The report that people read in a terminal.

use colibri_visible::printable;

use std::fmt::Write;

use super::{Names, short, steps, summary, tool, tools, waivers, witness, word};
use crate::finding::Finding;
use crate::verdict::Verdict;

/// Returns the verdict as text.
#[must_use]
pub fn text(verdict: &Verdict, names: &Names) -> String {
    let mut out = format!("Drift from {} to {}.\n", names.old, names.new);
    for finding in &verdict.blocking {
        head(finding, &word(finding), &mut out);
        for (label, value) in [("before: ", &finding.old), ("now:    ", &finding.new)] {
            if !value.is_null() {
                let _ = writeln!(out, "  {label}{}", short(value));
            }
        }
        reasons(finding, &mut out);
    }
    for finding in &verdict.failures {
        head(finding, "FAIL", &mut out);
        reasons(finding, &mut out);
    }
    if !verdict.waived.is_empty() {
        out.push_str("\nAccepted by waivers:\n");
        for (finding, reason) in &verdict.waived {
            line(finding, &mut out);
            let _ = writeln!(out, "    reason: {reason}");
        }
    }
    if !verdict.listed.is_empty() {
        out.push_str("\nListed only, no client breaks:\n");
        for finding in &verdict.listed {
            line(finding, &mut out);
        }
    }
    let _ = writeln!(out, "\n{}", summary(verdict));
    way_on(verdict, names, &mut out);
    out
}

fn head(finding: &Finding, word: &str, out: &mut String) {
    let _ = writeln!(out, "\n{}", title(finding, word));
    let _ = writeln!(out, "  {}", printable(&finding.message));
    if let Some(tools) = tools(finding) {
        let _ = writeln!(out, "  In {}: {}", tool(finding), printable(&tools));
    }
}

/// `BREAK [I7] note_add /input/properties/text`.
fn title(finding: &Finding, word: &str) -> String {
    let parts = [&format!("{word} [{}]", finding.rule), &tool(finding), &finding.pointer];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| printable(part))
        .collect::<Vec<_>>()
        .join(" ")
}

fn reasons(finding: &Finding, out: &mut String) {
    let _ = writeln!(out, "  Why it matters: {}.", finding.why);
    if let Some((what, shown)) = witness(finding) {
        let _ = writeln!(out, "  {what}: {shown}");
    }
    if !finding.help.is_empty() {
        let end = if finding.help.ends_with('?') { "" } else { "." };
        let _ = writeln!(out, "  To go on: {}{end}", finding.help);
    }
}

fn line(finding: &Finding, out: &mut String) {
    let _ = writeln!(out, "  {}", title(finding, &word(finding)));
    let _ = writeln!(out, "    {}", printable(&finding.message));
    if let Some(tools) = tools(finding) {
        let _ = writeln!(out, "    In {}: {}", tool(finding), printable(&tools));
    }
}

fn way_on(verdict: &Verdict, names: &Names, out: &mut String) {
    let steps = steps(verdict, names);
    if verdict.passes() || steps.is_empty() {
        return;
    }
    out.push_str("\nTake the changes back as said above, or accept them:\n");
    for (index, step) in steps.iter().enumerate() {
        let _ = writeln!(out, "  {}. {step}", index + 1);
    }
    if !verdict.blocking.is_empty() {
        let _ = write!(out, "\n{}", waivers(verdict, names));
    }
}
