//! Rules and their findings.

use std::collections::HashMap;
use std::fmt::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// How much attention a change demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Listed only: no client can break.
    Info,
    /// A person must look: the gate fails until the catalogue holds a waiver with a reason.
    Ack,
    /// A client that worked may fail: it needs a waiver and a new major version (0.x: minor).
    Break,
}

impl Severity {
    /// Returns the word that reports use: `INFO`, `ACK`, `BREAK`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Ack => "ACK",
            Self::Break => "BREAK",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// What a rule looks at; it decides which way a change may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// What clients send: it may widen.
    Input,
    /// What clients read: it may narrow.
    Output,
    /// A tool's entry: name, texts, hints.
    Tool,
    /// The errors a tool answers with.
    Error,
    /// The server as a whole.
    Catalogue,
}

/// One rule of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its id, for instance `I9`; fingerprints hash it.
    pub id: &'static str,
    /// Its name in words, for instance `input-pattern-changed`.
    pub name: &'static str,
    /// The side of the contract that it looks at.
    pub direction: Direction,
    /// Its usual severity. Findings may have a lesser one where the change breaks less, or a greater one where it alarms.
    pub severity: Severity,
    /// The change it is about, in a few words.
    pub title: &'static str,
    /// What it demands, in words: one severity, or several and when.
    pub asks: &'static str,
    /// Why that matters, in a sentence without a full stop.
    pub why: &'static str,
}

/// The page that describes all rules. Their names never change, so the newest page serves every version.
pub(crate) const REFERENCE: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/drift-rules.md");

impl Rule {
    /// Returns the address of its entry in the reference.
    #[must_use]
    pub fn link(&self) -> String {
        format!("{REFERENCE}#{}", self.name)
    }

    /// Returns a finding of this rule about the server as a whole; the other methods add the details.
    #[must_use]
    pub fn finding(
        &self,
        severity: Severity,
        pointer: impl Into<String>,
        (old, new): (impl Into<Value>, impl Into<Value>),
        message: impl Into<String>,
    ) -> Finding {
        Finding {
            rule: self.id,
            severity,
            security: false,
            nature: Nature::Plain,
            tool: None,
            also: Vec::new(),
            places: Vec::new(),
            pointer: pointer.into(),
            old: old.into(),
            new: new.into(),
            message: message.into(),
            why: self.why,
            help: String::new(),
            witness: None,
        }
    }
}

/// Kinds of findings that profiles judge apart within a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nature {
    /// As the rule says.
    #[default]
    Plain,
    /// A property came into an object whose schema does not say whether it is open.
    OpenByDefault,
    /// A description of a schema says the same in other words, as far as the gate can tell.
    Wording,
}

/// One change between two snapshots, with its severity.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Id of the rule.
    pub rule: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// The change bears on security: a person must look at it at any severity.
    pub security: bool,
    /// What a profile may judge apart.
    pub nature: Nature,
    /// The tool; `None` if the change is about the server as a whole.
    pub tool: Option<String>,
    /// The other tools with the same change, when findings are grouped.
    pub also: Vec<String>,
    /// Where in the tool's entry, for instance `/input/properties/title`; a place in the catalogue if there is no tool.
    pub pointer: String,
    /// Where else in the entry the same definition changes in the same way.
    pub places: Vec<String>,
    /// The old value; null if there was none.
    pub old: Value,
    /// The new value; null if there is none.
    pub new: Value,
    /// What changed, in a sentence.
    pub message: String,
    /// Why it matters.
    pub why: &'static str,
    /// How to make the change without breaking clients.
    pub help: String,
    /// A value that the old schema accepts and the new one refuses (inputs), or the reverse (outputs).
    pub witness: Option<Value>,
}

impl Finding {
    /// Sets the tool.
    #[must_use]
    pub fn of(self, tool: &str) -> Self {
        Self { tool: Some(tool.to_owned()), ..self }
    }

    /// Marks the finding as bearing on security.
    #[must_use]
    pub(crate) fn secure(self) -> Self {
        Self { security: true, ..self }
    }

    /// Adds advice: how to make the change.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..self }
    }

    /// Returns what a waiver names: the first 16 hexadecimal digits of the SHA-256 of rule, tool, pointer, old and
    /// new. It survives rebases, and changes as soon as the change itself does. Of a group it covers all tools, and of a definition all places.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut text = String::new();
        let tools = match &self.also[..] {
            [] => json!(self.tool),
            also => self.tool.iter().chain(also).cloned().collect(),
        };
        let mut change =
            vec![json!(self.rule), tools, json!(self.pointer), self.old.clone(), self.new.clone()];
        if !self.places.is_empty() {
            change.push(json!(self.places));
        }
        canonical(&change.into(), &mut text);
        let mut digits = String::with_capacity(16);
        for byte in Sha256::digest(text.as_bytes()).iter().take(8) {
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }
}

/// Puts the same change of several tools together, at the place of the first.
pub(crate) fn grouped(found: Vec<Finding>) -> Vec<Vec<Finding>> {
    let mut groups: Vec<Vec<Finding>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for finding in found {
        let Finding { rule, severity, security, pointer, old, new, message, .. } = &finding;
        let change = json!([rule, severity, security, pointer, old, new, message]).to_string();
        match places.get(&change).and_then(|at| groups.get_mut(*at)).filter(|_| finding.tool.is_some()) {
            Some(group) => group.push(finding),
            None => {
                places.insert(change, groups.len());
                groups.push(vec![finding]);
            }
        }
    }
    groups
}

/// Returns one finding for a group; `None` for one without findings.
pub(crate) fn together(group: &[Finding]) -> Option<Finding> {
    let (first, others) = group.split_first()?;
    let also = others.iter().filter_map(|other| other.tool.clone()).collect();
    Some(Finding { also, ..first.clone() })
}

/// Puts findings of a kind in one tool together, each kind at the place of its first: the wording of descriptions.
pub(crate) fn reworded(found: Vec<Finding>) -> Vec<Vec<Finding>> {
    let kind = |finding: &Finding| {
        let is_wording = finding.nature == Nature::Wording && finding.also.is_empty();
        is_wording.then(|| (finding.rule, finding.severity, finding.tool.clone()))
    };
    let mut groups: Vec<Vec<Finding>> = Vec::new();
    let mut places = HashMap::new();
    for finding in found {
        let at = kind(&finding).map_or(groups.len(), |kind| *places.entry(kind).or_insert(groups.len()));
        match groups.get_mut(at) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

/// Returns one finding for the descriptions that were reworded in one tool.
pub(crate) fn in_other_words(group: &[Finding]) -> Option<Finding> {
    let (first, others) = group.split_first()?;
    if others.is_empty() {
        return Some(first.clone());
    }
    let texts = |of: fn(&Finding) -> &Value| -> Map<String, Value> {
        group.iter().map(|finding| (finding.pointer.clone(), of(finding).clone())).collect()
    };
    let places: Vec<String> = group.iter().map(|finding| format!("`{}`", place(&finding.pointer))).collect();
    let top = first.pointer.split('/').nth(1).unwrap_or_default();
    Some(Finding {
        pointer: format!("/{top}"),
        old: texts(|finding| &finding.old).into(),
        new: texts(|finding| &finding.new).into(),
        message: format!("{} descriptions changed: {}.", group.len(), places.join(", ")),
        ..first.clone()
    })
}

/// The names on the way to a description, of properties and of nothing else.
pub(crate) fn place(pointer: &str) -> String {
    let mut names = Vec::new();
    let mut parts = pointer.split('/');
    while let Some(part) = parts.next() {
        match part {
            "properties" | "$defs" | "definitions" => names.extend(parts.next()),
            "items" => names.push("[]"),
            _ => {}
        }
    }
    let place = names.join(".").replace(".[]", "[]").replace("~1", "/").replace("~0", "~");
    if place.is_empty() { pointer.to_owned() } else { place }
}

/// Writes a value as text that does not depend on the order of members.
fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let _ = write!(out, "{}:", Value::String(key.clone()));
                canonical(value, out);
            }
            out.push('}');
        }
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(old: Value) -> Finding {
        Finding {
            rule: "I7",
            severity: Severity::Break,
            security: false,
            nature: Nature::Plain,
            tool: Some("note_add".to_owned()),
            also: Vec::new(),
            pointer: "/input/properties/text".to_owned(),
            places: Vec::new(),
            old,
            new: json!({"maxLength": 10}),
            message: "shorter".to_owned(),
            why: "old calls fail",
            help: "do not".to_owned(),
            witness: None,
        }
    }

    #[test]
    fn severities_are_ordered() {
        assert!(Severity::Info < Severity::Ack && Severity::Ack < Severity::Break);
    }

    #[test]
    fn fingerprint_knows_the_change_and_not_the_words() {
        let one = finding(json!({"a": 1, "b": [2]}));
        let same = Finding { message: "other words".to_owned(), ..finding(json!({"b": [2], "a": 1})) };
        assert_eq!(one.fingerprint(), same.fingerprint());
        assert_eq!(one.fingerprint().len(), 16);
        assert_ne!(one.fingerprint(), finding(json!({"a": 2, "b": [2]})).fingerprint());
        let elsewhere = Finding { tool: None, ..one.clone() };
        assert_ne!(one.fingerprint(), elsewhere.fingerprint());
        let twice = Finding { places: vec!["/input/properties/title".to_owned()], ..one.clone() };
        assert_ne!(one.fingerprint(), twice.fingerprint());
    }
}
