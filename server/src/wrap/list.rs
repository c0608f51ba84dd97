//! Lists of tools as the server gives them: the entries of a page where they stand in its line, and pages put together to a list.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use colibri_canonical::{HexDigest, NumberRule, canonical_text};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::extents::{self, Member, Parts};
use super::hash::tool_hash;
use super::limits::{LIST_BYTES, LIST_TOOLS};

/// Why an answer lists no tools that could be compared. What it holds completes a sentence: `the list …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The result has no array `tools`, or two of them.
    #[error("has no array of tools, or several")]
    NoTools,
    /// The cursor is neither text nor null, or there are two.
    #[error("has a `nextCursor` that is not one text")]
    Cursor,
    /// A cursor came a second time.
    #[error("has no end: a `nextCursor` came a second time")]
    Endless,
    /// There are too many pages.
    #[error("has over {LIST_TOOLS} pages")]
    ManyPages,
    /// There are too many tools.
    #[error("has over {LIST_TOOLS} tools")]
    ManyTools,
    /// The pages together are too long.
    #[error("has over {LIST_BYTES} bytes")]
    Long,
}

impl Unreadable {
    /// Returns whether the list is too long, so that asking again would bring the same.
    pub(crate) fn is_of_length(&self) -> bool {
        match self {
            Self::Endless | Self::ManyPages | Self::ManyTools | Self::Long => true,
            Self::NoTools | Self::Cursor => false,
        }
    }
}

/// A tool's entry in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, escapes undone; `None` if it is not one text.
    pub name: Option<String>,
    /// What identifies it, and its canonical JSON; `None` if there is no such form that all readers agree on.
    pub identity: Option<(HexDigest, String)>,
    /// Its `readOnlyHint` is exactly `true`.
    pub read_only: bool,
}

/// An answer to `tools/list`: its entries, and where they stand in its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The entries in their order.
    pub entries: Vec<Entry>,
    /// Where they stand; the indices are those of `entries`.
    pub parts: Parts,
    /// The cursor of the next page; `None` on the last one.
    pub cursor: Option<String>,
    /// The length of the array, in bytes.
    pub(super) bytes: usize,
}

impl Page {
    /// Reads the result that stands at `result` in a line.
    ///
    /// # Errors
    /// It lists no tools, or there are too many tools in it.
    pub fn read(line: &[u8], result: &Range<usize>) -> Result<Self, Unreadable> {
        let (members, _) = extents::members(line, result).ok_or(Unreadable::NoTools)?;
        let tools = only(&members, "tools").ok().flatten().ok_or(Unreadable::NoTools)?;
        let parts = extents::items(line, tools).ok_or(Unreadable::NoTools)?;
        if parts.extents.len() > LIST_TOOLS {
            return Err(Unreadable::ManyTools);
        }
        let cursor = match only(&members, "nextCursor").map_err(|()| Unreadable::Cursor)? {
            None => None,
            Some(place) => match line.get(place.clone()).unwrap_or_default() {
                b"null" => None,
                raw => Some(extents::text(raw).ok_or(Unreadable::Cursor)?),
            },
        };
        let entries = parts.extents.iter().map(|extent| Entry::read(line, extent)).collect();
        Ok(Self { entries, parts, cursor, bytes: tools.len() })
    }
}

impl Page {
    /// Takes the identity of entries that share their name with another entry.
    pub(super) fn doubt_repeated(&mut self, before: &[Entry]) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for name in before.iter().chain(&self.entries).filter_map(|entry| entry.name.clone()) {
            *counts.entry(name).or_default() += 1;
        }
        for entry in &mut self.entries {
            if entry.name.as_ref().is_some_and(|name| counts.get(name).is_some_and(|count| *count > 1)) {
                entry.identity = None;
                entry.read_only = false;
            }
        }
    }
}

/// The place of the one member of a name; an error if there are several, or one whose name may be read in several ways.
fn only<'a>(members: &'a [Member], name: &str) -> Result<Option<&'a Range<usize>>, ()> {
    if members.iter().any(|member| member.name.is_none()) {
        return Err(());
    }
    let mut named = members.iter().filter(|member| member.name.as_deref() == Some(name));
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(()),
        (first, None) => Ok(first.map(|member| &member.value)),
    }
}

/// Returns the canonical JSON of an entry that is an object and nested so deep at most that a whole list with it can be read again.
fn canonical(text: &str) -> Option<String> {
    let inside_a_list = canonical_text(&format!("[[{text}]]"), NumberRule::Wire)?;
    let entry = inside_a_list.strip_prefix("[[")?.strip_suffix("]]")?;
    entry.starts_with('{').then(|| entry.to_owned())
}

#[derive(Deserialize)]
struct Hinted {
    annotations: Map<String, Value>,
}

impl Entry {
    /// Reads an entry that is a text of its own.
    pub fn of(text: &str) -> Self {
        let text = text.trim_ascii();
        Self::read(text.as_bytes(), &(0..text.len()))
    }

    fn read(line: &[u8], place: &Range<usize>) -> Self {
        let members = extents::members(line, place).map(|(members, _)| members).unwrap_or_default();
        let name = only(&members, "name").ok().flatten();
        let name = name.and_then(|place| extents::text(line.get(place.clone())?));
        let text = std::str::from_utf8(line.get(place.clone()).unwrap_or_default()).ok();
        let identity = text.filter(|_| name.is_some()).and_then(canonical);
        let identity = identity.map(|text| (tool_hash(&text), text));
        let hinted = identity.as_ref().and_then(|(_, text)| serde_json::from_str::<Hinted>(text).ok());
        let hint = hinted.and_then(|hinted| hinted.annotations.get("readOnlyHint").cloned());
        let read_only = hint == Some(Value::Bool(true));
        Self { name, identity, read_only }
    }
}

/// A tool that its entry names and identifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// What identifies the entry.
    pub hash: HexDigest,
    /// The entry's canonical JSON.
    pub text: String,
    /// Its `readOnlyHint` is exactly `true`.
    pub read_only: bool,
}

/// A complete list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List {
    /// The tools by name, each once.
    pub tools: BTreeMap<String, Tool>,
    /// The names in the order in which the server lists them.
    pub order: Vec<String>,
    /// Names that several entries have, or whose entry has no canonical form.
    pub doubtful: Vec<String>,
    /// How many entries have no name.
    pub nameless: usize,
}

impl List {
    /// Puts the entries of all pages together.
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut list = Self::default();
        let (mut seen, mut doubtful) = (HashSet::new(), HashSet::new());
        for entry in entries {
            let Some(name) = entry.name else {
                list.nameless += 1;
                continue;
            };
            let first = seen.insert(name.clone());
            match entry.identity.filter(|_| first) {
                Some((hash, text)) => {
                    list.order.push(name.clone());
                    list.tools.insert(name, Tool { hash, text, read_only: entry.read_only });
                }
                None if doubtful.insert(name.clone()) => {
                    list.tools.remove(&name);
                    list.doubtful.push(name);
                }
                None => {}
            }
        }
        list.order.retain(|name| !doubtful.contains(name));
        list
    }
}
