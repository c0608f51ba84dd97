//! What a leaf of the second tree is: everything about a record that must not change, the author and the
//! session included, with the content's digest in place of the content (proof#rfc9162-tree). Pure.

use crate::tree::rfc9162::{self, Hash};
use colibri_canonical::object::{number, text};

/// A leaf, in the order of its canonical keys.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // The keys of proof#rfc9162-tree; `kind` is `type`.
pub struct LeafEnvelope<'a> {
    pub agent_id: &'a str,
    pub content_hash: &'a str,
    pub hash: &'a str,
    pub id: &'a str,
    pub prev_hash: &'a str,
    pub session_id: &'a str,
    pub task_id: &'a str,
    pub timestamp: &'a str,
    pub kind: &'a str,
}

impl LeafEnvelope<'_> {
    /// Appends the leaf's input: canonical JSON (RFC 8785).
    pub fn write(&self, out: &mut Vec<u8>) {
        text(out, b"{\"agent_id\":", Some(self.agent_id));
        text(out, b",\"content_hash\":", Some(self.content_hash));
        text(out, b",\"hash\":", Some(self.hash));
        text(out, b",\"id\":", Some(self.id));
        text(out, b",\"prev_hash\":", Some(self.prev_hash));
        text(out, b",\"session_id\":", Some(self.session_id));
        text(out, b",\"task_id\":", Some(self.task_id));
        text(out, b",\"timestamp\":", Some(self.timestamp));
        text(out, b",\"type\":", Some(self.kind));
        number(out, b",\"v\":", Some(1));
        out.push(b'}');
    }

    /// Returns the leaf's hash. `scratch` is cleared first, so a caller that hashes many leaves can reuse it.
    pub fn leaf_hash(&self, scratch: &mut Vec<u8>) -> Hash {
        scratch.clear();
        self.write(scratch);
        rfc9162::leaf_hash(scratch)
    }
}
