//! The front matter's keys and their rules (skills#front-matter). Pure.

use super::node::{Mapping, Node, members_to_json};
use super::text::{Reason, Refusal, shown};

/// The capabilities that a skill may declare. A declaration grants nothing.
pub const CAPABILITIES: [&str; 5] = ["read", "write", "spawn", "audit", "admin"];
/// The letters a skill may belong to.
pub const GREEK_LETTERS: [&str; 15] =
    ["α", "β", "γ", "δ", "ε", "ζ", "η", "θ", "ι", "κ", "λ", "μ", "ν", "ξ", "π"];

/// A checked front matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontmatter {
    /// A lower-case letter, then lower-case letters, digits and hyphens.
    pub name: String,
    /// Its purpose; not empty.
    pub description: String,
    /// Free text.
    pub version: Option<String>,
    /// Only stored; the server neither resolves nor runs it.
    pub entrypoint: Option<String>,
    /// Members of [`CAPABILITIES`], in the file's order; empty if the key is absent.
    pub capabilities: Vec<String>,
    /// A member of [`GREEK_LETTERS`].
    pub greek_letter: Option<String>,
    /// Every key, including those without a rule.
    pub all: Mapping,
}

impl Frontmatter {
    /// Checks a mapping.
    ///
    /// # Errors
    /// [`Reason::SchemaInvalid`] with every issue.
    pub fn read(all: Mapping) -> Result<Self, Refusal> {
        let mut check = Check { all: &all, issues: Vec::new() };
        let name = check.required("name");
        if let Some(name) = name.as_deref()
            && !is_name(name)
        {
            let rule = "must be a lower-case letter and then one or more of a-z, 0-9 and hyphen";
            check.issue("name", format!("{rule}, not {}", shown(name)));
        }
        let description = check.required("description");
        if description.as_deref() == Some("") {
            check.issue("description", "must not be empty");
        }
        let version = check.text("version");
        let entrypoint = check.text("entrypoint");
        let capabilities = check.capabilities();
        let greek_letter = check.text("greekLetter");
        if let Some(letter) = greek_letter.as_deref()
            && !GREEK_LETTERS.contains(&letter)
        {
            let letters = GREEK_LETTERS.join(" ");
            check.issue("greekLetter", format!("must be one of {letters}, not {}", shown(letter)));
        }
        let issues = check.issues;
        match (name, description) {
            (Some(name), Some(description)) if issues.is_empty() => {
                Ok(Self { name, description, version, entrypoint, capabilities, greek_letter, all })
            }
            _ => Err(Refusal::new(Reason::SchemaInvalid, issues.join("; "))),
        }
    }

    /// Returns the whole front matter as compact JSON, keys sorted bytewise.
    pub fn json(&self) -> String {
        members_to_json(&self.all).to_string()
    }
}

/// Matches `^[a-z][a-z0-9-]+$`, anchored at the true end.
fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && text.len() >= 2
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Reads keys and collects every issue.
struct Check<'a> {
    all: &'a Mapping,
    issues: Vec<String>,
}

impl Check<'_> {
    fn issue(&mut self, path: &str, what: impl std::fmt::Display) {
        self.issues.push(format!("{path}: {what}"));
    }

    fn required(&mut self, key: &str) -> Option<String> {
        if !self.all.contains_key(key) {
            self.issue(key, "is missing");
        }
        self.text(key)
    }

    /// Returns the key's text, if the key is present.
    fn text(&mut self, key: &str) -> Option<String> {
        match self.all.get(key)? {
            Node::Text(text) => Some(text.clone()),
            other => {
                self.issue(key, format!("must be a string, not {}; quote it", other.kind()));
                None
            }
        }
    }

    fn capabilities(&mut self) -> Vec<String> {
        const KEY: &str = "capabilities";
        let items = match self.all.get(KEY) {
            None => return Vec::new(),
            Some(Node::List(items)) => items,
            Some(other) => {
                self.issue(KEY, format!("must be a list, not {}", other.kind()));
                return Vec::new();
            }
        };
        let mut known = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            match item {
                Node::Text(text) if CAPABILITIES.contains(&text.as_str()) => known.push(text.clone()),
                Node::Text(text) => {
                    let words = CAPABILITIES.join(", ");
                    self.issue(
                        &format!("{KEY}.{at}"),
                        format!("must be one of {words}, not {}", shown(text)),
                    );
                }
                other => {
                    self.issue(&format!("{KEY}.{at}"), format!("must be a string, not {}", other.kind()))
                }
            }
        }
        known
    }
}
