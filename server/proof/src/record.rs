//! The thought record and its hash (trail#record). Pure.

use serde::{Deserialize, Serialize};

use colibri_canonical::HexDigest;
use colibri_canonical::object::text;

/// What a thought is (trail#record).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThoughtType {
    /// The intended way, before the work.
    Plan,
    /// A finding on the way.
    Analysis,
    /// A choice, its alternatives and its reason.
    Decision,
    /// The outcome, at the close.
    Reflection,
}

/// The four types, in the order the chapter lists them.
pub const THOUGHT_TYPES: [ThoughtType; 4] =
    [ThoughtType::Plan, ThoughtType::Analysis, ThoughtType::Decision, ThoughtType::Reflection];

impl ThoughtType {
    /// Returns the type as it is stored and hashed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Analysis => "analysis",
            Self::Decision => "decision",
            Self::Reflection => "reflection",
        }
    }

    /// Returns the type that a stored text names; `None` for anything else, other cases included.
    pub fn parse(text: &str) -> Option<Self> {
        THOUGHT_TYPES.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a record's hash covers: six of its fields, in the order of their canonical keys (trail#record).
/// The author and the session are not among them; the second tree (proof#rfc9162-tree) covers those.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // The fields of trail#record, under their names.
pub struct Preimage<'a> {
    pub content: &'a str,
    pub id: &'a str,
    pub prev_hash: &'a str,
    pub task_id: &'a str,
    pub timestamp: &'a str,
    pub kind: &'a str,
}

impl Preimage<'_> {
    /// Appends the bytes that are hashed: canonical JSON (RFC 8785) of the six fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        text(out, b"{\"content\":", Some(self.content));
        text(out, b",\"id\":", Some(self.id));
        text(out, b",\"prev_hash\":", Some(self.prev_hash));
        text(out, b",\"task_id\":", Some(self.task_id));
        text(out, b",\"timestamp\":", Some(self.timestamp));
        text(out, b",\"type\":", Some(self.kind));
        out.push(b'}');
    }

    /// Returns the record's hash. `scratch` is cleared first; a walk passes the same one for every record,
    /// so that it allocates nothing.
    pub fn hash(&self, scratch: &mut Vec<u8>) -> HexDigest {
        scratch.clear();
        self.write(scratch);
        HexDigest::of(scratch)
    }
}

/// A whole thought record (trail#record).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields of trail#record, under their names; `kind` is `type`.
pub struct ThoughtRecord {
    pub id: String,
    pub kind: ThoughtType,
    pub task_id: String,
    pub agent_id: String,
    pub content: String,
    pub timestamp: String,
    pub prev_hash: HexDigest,
    pub hash: HexDigest,
    pub session_id: Option<String>,
}

impl ThoughtRecord {
    /// Returns the fields that the hash covers.
    pub fn preimage(&self) -> Preimage<'_> {
        Preimage {
            content: &self.content,
            id: &self.id,
            prev_hash: self.prev_hash.as_str(),
            task_id: &self.task_id,
            timestamp: &self.timestamp,
            kind: self.kind.as_str(),
        }
    }
}

/// Computes the hash that `record` should have, independent of the one that it has.
pub fn compute_hash(record: &ThoughtRecord) -> HexDigest {
    record.preimage().hash(&mut Vec::with_capacity(record.content.len() + 256))
}
