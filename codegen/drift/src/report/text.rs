//! The report that people read in a terminal.

use colibri_visible::printable;

use std::fmt::Write;

use super::{Names, change, headline, link, steps, tool, tools, waivers, witness, word};
use crate::finding::{Finding, Severity};
use crate::verdict::Verdict;

/// Returns the verdict as text.
#[must_use]
pub fn text(verdict: &Verdict, names: &Names) -> String {
    let mut out = format!("{}\n\nFrom {} to {}.\n", headline(verdict), names.old, names.new);
    for finding in &verdict.blocking {
        head(finding, &word(finding), &mut out);
        reasons(finding, &mut out);
    }
    for finding in &verdict.failures {
        head(finding, "FAIL", &mut out);
        reasons(finding, &mut out);
    }
    way_on(verdict, names, &mut out);
    if !verdict.waived.is_empty() {
        out.push_str("\nAccepted by waivers:\n");
        for (finding, reason) in &verdict.waived {
            line(finding, &mut out);
            let _ = writeln!(out, "    reason: {reason}");
        }
    }
    let (told, listed): (Vec<_>, Vec<_>) =
        verdict.listed.iter().partition(|finding| finding.severity > Severity::Info);
    if !told.is_empty() {
        out.push_str("\nListed only, as `fail-on` has it:\n");
        for finding in told {
            head(finding, &word(finding), &mut out);
            reasons(finding, &mut out);
        }
    }
    if !listed.is_empty() {
        out.push_str("\nListed only, no client breaks:\n");
        for finding in listed {
            line(finding, &mut out);
        }
    }
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
    if let Some(change) = change(finding) {
        let _ = writeln!(out, "  Change: {}", printable(&change));
    }
    let _ = writeln!(out, "  Why it matters: {}.", finding.why);
    if let Some((what, shown)) = witness(finding) {
        let _ = writeln!(out, "  {what}: {}", printable(&shown));
    }
    if !finding.help.is_empty() {
        let end = if finding.help.ends_with('?') { "" } else { "." };
        let _ = writeln!(out, "  To go on: {}{end}", finding.help);
    }
    let _ = writeln!(out, "  More: {}", link(finding));
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
        let _ = write!(out, "\n{}", waivers(verdict, names).concat());
    }
}
