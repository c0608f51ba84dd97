//! What is pinned of a server: the tools of the first list that was seen, and each accepted list laid over it.

use std::collections::{BTreeMap, BTreeSet};

use colibri_canonical::HexDigest;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::hash::list_hash;
use super::list::{Entry, List, Tool};

/// How many digits of a list's hash are shown; commands take them for the whole.
pub const SHOWN_DIGITS: usize = 12;

/// A list as it is compared: the tools of a complete list, and the instructions of the same server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenList {
    /// The tools.
    pub list: List,
    /// The instructions; `None` if the server gave none, or none yet.
    pub instructions: Option<String>,
}

/// The form in which lists are stored.
#[derive(Deserialize)]
struct Stored<'a> {
    instructions: Option<String>,
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

impl SeenList {
    /// Reads a stored list, `{"instructions":…,"tools":[…]}`; `None` if it has another form.
    pub fn stored(text: &str) -> Option<Self> {
        let Stored { instructions, tools } = serde_json::from_str(text).ok()?;
        let entries = tools.into_iter().map(|tool| Entry::of(tool.get()));
        Some(Self { list: List::of(entries), instructions })
    }

    /// Returns the hash of the list: of what identifies each tool, and of the instructions.
    pub fn hash(&self) -> HexDigest {
        let tools = &self.list.tools;
        let hashes = tools.iter().map(|(name, tool)| (name.clone(), tool.hash)).collect();
        list_hash(self.instructions.as_deref(), &hashes)
    }

    /// Returns the entries of the tools as JSON texts, in the order of the list.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        let tools = &self.list.tools;
        self.list.order.iter().filter_map(|name| tools.get(name).map(|tool| tool.text.as_str()))
    }
}

/// A pin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pin {
    /// The tools by name.
    pub tools: BTreeMap<String, Tool>,
    /// The instructions.
    pub instructions: Option<String>,
    /// When the newest list was laid over it: UTC, RFC 3339 with milliseconds.
    pub since: String,
    /// The hashes of the lists of which it is made.
    pub lists: BTreeSet<String>,
    /// Whether another list was ever stored under its name.
    pub has_others: bool,
}

/// How a list differs from a pin, but for doubtful tools, which cannot be pinned. Names are in the order of the list, those that
/// are gone in the order of names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Tools whose entry is not the pinned one.
    pub changed: Vec<String>,
    /// Tools that are not pinned.
    pub new: Vec<String>,
    /// Pinned tools that the list lacks: no difference, since many servers list what the client can use.
    pub gone: Vec<String>,
    /// The instructions are not the pinned ones.
    pub instructions: bool,
}

impl Difference {
    /// Whether nothing in the list differs from the pin.
    pub fn is_none(&self) -> bool {
        self.changed.is_empty() && self.new.is_empty() && !self.instructions
    }

    /// Returns the counts in words: `2 tools changed, 1 is new`.
    pub fn counts(&self) -> String {
        let tools = |count: usize| if count == 1 { "tool" } else { "tools" };
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let (changed, new) = (self.changed.len(), self.new.len());
        let mut parts = Vec::new();
        match (changed, new) {
            (0, 0) => {}
            (0, new) => parts.push(format!("{new} {} {} new", tools(new), are(new))),
            (changed, 0) => parts.push(format!("{changed} {} changed", tools(changed))),
            (changed, new) => {
                parts.push(format!("{changed} {} changed, {new} {} new", tools(changed), are(new)));
            }
        }
        if self.instructions {
            parts.push("the instructions changed".to_owned());
        }
        parts.join(", ")
    }
}

impl Pin {
    /// Lays a list over the pin. A tool that the list lacks stays, and so do instructions.
    pub fn lay(&mut self, seen: &SeenList, at: &str) {
        self.tools.extend(seen.list.tools.iter().map(|(name, tool)| (name.clone(), tool.clone())));
        if seen.instructions.is_some() {
            self.instructions.clone_from(&seen.instructions);
        }
        at.clone_into(&mut self.since);
        self.lists.insert(seen.hash().as_str().to_owned());
    }

    /// Whether an entry is the pinned one of its name.
    pub fn holds(&self, entry: &Entry) -> bool {
        let (Some(name), Some((hash, _))) = (&entry.name, &entry.identity) else { return false };
        self.tools.get(name).is_some_and(|pinned| pinned.hash == *hash)
    }

    /// Whether instructions are the pinned ones. A server that gives none differs in nothing.
    pub fn holds_instructions(&self, instructions: Option<&str>) -> bool {
        instructions.is_none() || instructions == self.instructions.as_deref()
    }

    /// Returns how a list differs.
    pub fn difference(&self, seen: &SeenList) -> Difference {
        let mut difference = Difference {
            instructions: !self.holds_instructions(seen.instructions.as_deref()),
            ..Difference::default()
        };
        let list = &seen.list;
        for (name, tool) in list.order.iter().filter_map(|name| Some((name, list.tools.get(name)?))) {
            match self.tools.get(name) {
                Some(pinned) if pinned.hash == tool.hash => {}
                Some(_) => difference.changed.push(name.clone()),
                None => difference.new.push(name.clone()),
            }
        }
        let is_gone = |name: &&String| !list.tools.contains_key(*name) && !list.doubtful.contains(name);
        difference.gone = self.tools.keys().filter(is_gone).cloned().collect();
        difference
    }
}

/// Returns the digits of a hash that are shown.
pub fn short(hash: &HexDigest) -> &str {
    hash.as_str().get(..SHOWN_DIGITS).unwrap_or_default()
}
