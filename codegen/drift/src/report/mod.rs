//! A verdict as text: for a terminal, a program, a pull request, a workflow's log.

mod annotations;
mod change;
mod headline;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;

use serde_json::Value;

pub use annotations::{Location, annotations};
pub use headline::headline;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::text;

use change::change;

use super::finding::{Direction, Finding, Severity};
use super::rules::rule;
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
    /// The file that holds the settings and waivers; none when there is none yet.
    pub waivers: Option<String>,
    /// Whether they are the member `drift:` of that file.
    pub below_drift: bool,
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

/// The call that a witness is, or the reply, by the side it is on. A harmless change has none to show.
fn witness(finding: &Finding) -> Option<(&'static str, String)> {
    if finding.severity == Severity::Info {
        return None;
    }
    let shown = finding.witness.as_ref().map(short)?;
    let shown = finding.tool.as_ref().map_or_else(|| shown.clone(), |tool| format!("{tool} {shown}"));
    let direction = rule(finding.rule).map(|rule| rule.direction);
    let reads = matches!(direction, Some(Direction::Output | Direction::Error));
    let what =
        if reads { "May be answered now, and could not be before" } else { "Worked before, is refused now" };
    Some((what, shown))
}

/// Where the rule is described.
fn link(finding: &Finding) -> String {
    rule(finding.rule).map(crate::Rule::link).unwrap_or_default()
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

/// Waivers for what blocks, as YAML to paste below `drift:` `waivers:`; a piece for each finding.
fn waivers(verdict: &Verdict, names: &Names) -> Vec<String> {
    let mut pieces = Vec::new();
    let indent = if names.below_drift { "    " } else { "  " };
    // The file may have to be begun.
    if names.waivers.is_none() {
        pieces.push("waivers:\n".to_owned());
    }
    for finding in &verdict.blocking {
        let about = finding.tool.as_ref().map(|_| tool(finding)).unwrap_or_default();
        let place = format!("{about} {}", finding.pointer);
        pieces.push(format!(
            "{indent}# {}\n{indent}- {{ rule: {}, fingerprint: \"{}\", reason: \"{REASON}\" }}\n",
            place.trim(),
            finding.rule,
            finding.fingerprint()
        ));
    }
    pieces
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
        let below = if names.below_drift { "`drift:` and `waivers:`" } else { "`waivers:`" };
        steps.push(match file {
            Some(file) => {
                format!(
                    "Add these lines to {file}, below {below} (not `waivers: []`), each with your reason:"
                )
            }
            None => "Put these lines into the file mcp-drift.yaml, each with your reason:".to_owned(),
        });
    }
    steps
}
