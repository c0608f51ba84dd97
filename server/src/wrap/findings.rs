//! What the difference between a pin and a list means, in the words of the drift rules. The direction is theirs as it is: they speak
//! for those who call.

use std::collections::HashSet;

use colibri_canonical::HexDigest;
use colibri_drift::{Finding, Severity, Snapshot, compare, from_tools_list};
use colibri_runtime::chain::log::Level;

use super::name::Name;
use super::pin::{Pin, SeenList, short};

/// The most findings that are logged; `colibri pins diff` prints all.
const LOGGED: usize = 20;

/// A line for the log, and how much it matters.
pub type Line = (Level, String);

/// A pin and a list to be compared. Comparing schemas may take long.
#[derive(Debug, Clone)]
pub struct Comparison {
    server: Name,
    /// `None` for the first list, which is held against an empty one.
    pin: Option<Pin>,
    seen: SeenList,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Meaning {
    /// The findings, those that bear on security first, and then the worst first. Of a first list only the former are told.
    pub findings: Vec<Finding>,
    /// Changed and new tools that no finding tells, with the hashes of their entries.
    pub untold: Vec<(String, HexDigest)>,
}

impl Comparison {
    /// Makes a comparison.
    pub fn new(server: Name, pin: Option<Pin>, seen: SeenList) -> Self {
        Self { server, pin, seen }
    }

    /// Compares.
    pub fn meaning(&self) -> Meaning {
        let (old, new) = self.snapshots();
        let mut findings = compare(&old, &new);
        if self.pin.is_none() {
            findings.retain(|finding| finding.security);
        }
        findings.sort_by_key(|finding| !finding.security);
        // A renamed tool is told under its old name.
        let told: HashSet<&str> = findings
            .iter()
            .flat_map(|finding| {
                let renamed = (finding.rule == "T2").then(|| finding.new.as_str()).flatten();
                [finding.tool.as_deref(), renamed]
            })
            .flatten()
            .collect();
        let difference = self.pin.as_ref().map(|pin| pin.difference(&self.seen)).unwrap_or_default();
        let unlike =
            difference.changed.into_iter().chain(difference.new).filter(|name| !told.contains(name.as_str()));
        let tools = &self.seen.list.tools;
        let untold =
            unlike.filter_map(|name| tools.get(&name).map(|tool| tool.hash).map(|hash| (name, hash)));
        let untold: Vec<_> = untold.collect();
        Meaning { findings, untold }
    }

    /// Returns the two states as the rules compare them: tools in one order, since the order is not pinned, and without those that
    /// the rules cannot read.
    fn snapshots(&self) -> (Snapshot, Snapshot) {
        let (mut old, mut new) = (Snapshot::default(), Snapshot::default());
        let list = &self.seen.list;
        for name in &list.order {
            let Some(tool) = list.tools.get(name) else { continue };
            let pinned = self.pin.as_ref().and_then(|pin| pin.tools.get(name));
            let (before, after) = (pinned.map(|pinned| read(&pinned.text)), read(&tool.text));
            let (Some(after), Some(before)) = (after, before.map_or(Some(None), |before| before.map(Some)))
            else {
                continue;
            };
            old.tools.extend(before);
            new.tools.push(after);
        }
        if let Some(pin) = &self.pin {
            let gone = pin
                .tools
                .iter()
                .filter(|(name, _)| !list.tools.contains_key(*name) && !list.doubtful.contains(name));
            old.tools.extend(gone.filter_map(|(_, tool)| read(&tool.text)));
            old.instructions = Some(pin.instructions.clone().unwrap_or_default());
        }
        let unchanged = old.instructions.clone();
        new.instructions = self.seen.instructions.clone().or(unchanged);
        (old, new)
    }

    /// Returns the lines for the log.
    pub fn lines(&self) -> Vec<Line> {
        let Meaning { findings, untold } = self.meaning();
        let server = &self.server;
        let mut lines: Vec<Line> = findings
            .iter()
            .map(|finding| (level(finding), format!("[wrap] {server}: {}", line(finding))))
            .collect();
        lines.extend(untold.iter().map(|(name, hash)| {
            let text =
                format!("[wrap] {server}: no rule tells what changed in {name} (entry {})", short(hash));
            (Level::Warn, text)
        }));
        let more = lines.len().saturating_sub(LOGGED);
        if more > 0 {
            lines.truncate(LOGGED);
            lines.push((
                Level::Warn,
                format!(
                    "[wrap] {server}: {more} more; look: colibri pins diff {server} --list {}",
                    short(&self.seen.hash())
                ),
            ));
        }
        lines
    }
}

/// Reads one entry; `None` if the rules cannot.
fn read(entry: &str) -> Option<colibri_drift::snapshot::Tool> {
    from_tools_list(&format!("{{\"tools\":[{entry}]}}")).ok()?.tools.pop()
}

/// A missing tool does not count as a difference, and what no client notices is listed only.
fn level(finding: &Finding) -> Level {
    let listed = finding.severity == Severity::Info || finding.new.is_null() && finding.pointer.is_empty();
    if listed && !finding.security { Level::Info } else { Level::Warn }
}

/// Returns a finding in a line: `security [T5] create_issue /description: The description changed.`
pub fn line(finding: &Finding) -> String {
    format!("{}: {}", title(finding), finding.message)
}

/// Returns what a finding is about: `security [T5] create_issue /description`.
pub fn title(finding: &Finding) -> String {
    let word = match finding.security {
        true => "security".to_owned(),
        false => finding.severity.word().to_lowercase(),
    };
    let rule = format!("[{}]", finding.rule);
    let parts = [word.as_str(), &rule, finding.tool.as_deref().unwrap_or_default(), &finding.pointer];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
