//! A verdict as text: for a terminal, a program, a pull request, a workflow's log.

mod annotations;
mod json;
mod markdown;
mod text;

use std::fmt::Write;

use serde_json::Value;

pub use annotations::{Location, annotations};
pub use json::json;
pub use markdown::markdown;
pub use text::text;

use super::finding::{Finding, Severity};
use super::rules::waivers::REASON;
use super::verdict::Verdict;

/// What a report names besides the verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// What was compared with, for instance `0.1.0 at 3f2a9c1 (merge base with main)`.
    pub old: String,
    /// What was judged, for instance `0.1.0 in catalogue`.
    pub new: String,
    /// The file that holds the version of the new state, if it is a catalogue's; else its server states it.
    pub version: Option<String>,
    /// The file that holds the waivers; none when they cannot be given.
    pub waivers: Option<String>,
}

/// `2 findings block (1 BREAK, 1 ACK), 1 is waived, 3 are listed.`
fn summary(verdict: &Verdict) -> String {
    let count = |severity| verdict.blocking.iter().filter(|finding| finding.severity == severity).count();
    let (breaks, acks) = (count(Severity::Break), count(Severity::Ack));
    let mut parts = Vec::new();
    let blocking = verdict.blocking.len();
    if blocking > 0 {
        let mut kinds = Vec::new();
        for (number, word) in [(breaks, "BREAK"), (acks, "ACK")] {
            if number > 0 {
                kinds.push(format!("{number} {word}"));
            }
        }
        let verb = if blocking == 1 { "finding blocks" } else { "findings block" };
        parts.push(format!("{blocking} {verb} ({})", kinds.join(", ")));
    }
    if !verdict.failures.is_empty() {
        let number = verdict.failures.len();
        let faults = if number == 1 { "fault" } else { "faults" };
        parts.push(format!("{number} {faults} in version or waivers"));
    }
    for (number, word) in [(verdict.waived.len(), "waived"), (verdict.listed.len(), "listed only")] {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    if parts.is_empty() {
        "Nothing changed for clients.".to_owned()
    } else {
        format!("{}.", parts.join(", "))
    }
}

/// The word for a finding: its severity, `FAIL` for what cannot be waived, `, security` where it bears on it.
fn word(finding: &Finding) -> String {
    let security = if finding.security { ", security" } else { "" };
    format!("{}{security}", finding.severity)
}

/// `note_add`, `3 tools`, or what stands for the server as a whole.
fn tool(finding: &Finding) -> String {
    match (&finding.tool, finding.also.len()) {
        (None, _) => "the server".to_owned(),
        (Some(tool), 0) => tool.clone(),
        (Some(_), others) => format!("{} tools", others + 1),
    }
}

/// The tools of a group.
fn tools(finding: &Finding) -> Option<String> {
    let tools = finding.tool.iter().chain(&finding.also).map(String::as_str);
    (!finding.also.is_empty()).then(|| tools.collect::<Vec<_>>().join(", "))
}

/// What a witness shows, by the side it is on.
fn witness(finding: &Finding) -> Option<(&'static str, String)> {
    let shown = finding.witness.as_ref().map(short)?;
    let reads = finding.rule.starts_with('O') || finding.rule.starts_with('E');
    let what =
        if reads { "May be answered now, and could not be before" } else { "Worked before, is refused now" };
    Some((what, shown))
}

/// The most characters of a value that are shown.
const MAX_SHOWN: usize = 300;

/// A value in a line, cut when it is long.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}

/// Waivers for what blocks, as YAML to paste below `drift:` `waivers:`.
fn waivers(verdict: &Verdict, names: &Names) -> String {
    // A file that is named with --waivers may have to be begun.
    let mut text = if names.waivers.is_some() { String::new() } else { "drift:\n  waivers:\n".to_owned() };
    for finding in &verdict.blocking {
        let about = finding.tool.as_ref().map(|_| tool(finding)).unwrap_or_default();
        let place = format!("{about} {}", finding.pointer);
        let _ = writeln!(text, "    # {}", place.trim());
        let _ = writeln!(
            text,
            "    - {{ rule: {}, fingerprint: \"{}\", reason: \"{REASON}\" }}",
            finding.rule,
            finding.fingerprint()
        );
    }
    text
}

/// The way on, as numbered steps.
fn steps(verdict: &Verdict, names: &Names) -> Vec<String> {
    let mut steps = Vec::new();
    let file = names.waivers.as_deref();
    if let Some(version) = verdict.needed_version() {
        let current = verdict.new_version.as_deref().unwrap_or_default();
        let set = match &names.version {
            Some(file) => format!("Set `version: {version}` (it is {current}) in {file}"),
            None => format!("Let the new state have the version {version} (it is {current})"),
        };
        steps.push(format!("{set}: a BREAK needs a new major version, a minor one while it is 0.x."));
    }
    if !verdict.blocking.is_empty() {
        steps.push(match file {
            Some(file) => format!(
                "Add these lines to {file}, below `drift:` and `waivers:` (not `waivers: []`), each with your reason:"
            ),
            None => "Put these lines into a YAML file, each with your reason, and name it with --waivers:".to_owned(),
        });
    }
    steps
}
