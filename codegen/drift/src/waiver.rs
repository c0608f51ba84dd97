//! Waivers: findings that a person has looked at and accepted.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::rules::rule;

/// One accepted finding, by its fingerprint or by its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The rule's id or name.
    pub rule: String,
    /// The finding's fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The tool; without it, and without a fingerprint, what is about the server as a whole is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The place in the tool's entry or in its input; without it every place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Why it is accepted.
    pub reason: String,
    /// The version from which it is accepted no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The day from which it is accepted no longer, as `2027-03-01`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The line of its file.
    #[serde(skip)]
    pub line: Option<usize>,
}

impl Waiver {
    /// Returns whether it is meant for a finding, whose fingerprint is given.
    pub(crate) fn is_for(&self, finding: &Finding, fingerprint: &str) -> bool {
        let is_named = rule(&self.rule).is_some_and(|rule| rule.id == finding.rule);
        // A definition is accepted place by place.
        let is_there = self
            .pointer
            .as_ref()
            .is_none_or(|pointer| finding.places.is_empty() && stands_at(pointer, finding));
        let is_it = match &self.fingerprint {
            Some(known) => known == fingerprint && (self.tool.is_none() || self.tool == finding.tool),
            // A group is accepted tool by tool.
            None => self.tool == finding.tool && finding.also.is_empty(),
        };
        is_named && is_there && is_it
    }

    /// Names it in a sentence.
    pub(crate) fn title(&self) -> String {
        let parts = [Some(&self.rule), self.fingerprint.as_ref(), self.tool.as_ref(), self.pointer.as_ref()];
        let title = parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
        match self.line {
            Some(line) => format!("{title} (line {line})"),
            None => title,
        }
    }
}

/// Returns whether a finding stands at a pointer. The pointer may leave the tool's input or output out at its beginning, or name it as
/// `tools/list` does, and may go one step further, to the keyword that changed.
fn stands_at(pointer: &str, finding: &Finding) -> bool {
    let of_schema =
        [("/inputSchema", "/input"), ("/outputSchema", "/output")].into_iter().find_map(|(listed, part)| {
            let rest = pointer.strip_prefix(listed)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{part}{rest}"))
        });
    let pointer = of_schema.as_deref().unwrap_or(pointer);
    ["", "/input", "/output"].into_iter().any(|part| {
        let rest = format!("{part}{pointer}");
        let Some(rest) = rest.strip_prefix(&finding.pointer) else { return false };
        let is_keyword = |keyword: &str| {
            [&finding.old, &finding.new].into_iter().any(|value| value.get(keyword).is_some())
        };
        rest.is_empty() || rest.strip_prefix('/').is_some_and(is_keyword)
    })
}

/// Reads the waivers of a YAML file: those below `drift:` and `waivers:`. Other members are ignored, so that a catalogue's
/// head of any version serves. `None` if the text is not such a file.
#[cfg(feature = "cli")]
#[must_use]
pub fn waivers(text: &str) -> Option<Vec<Waiver>> {
    crate::Config::parse_head(text).ok().map(|config| config.waivers)
}
