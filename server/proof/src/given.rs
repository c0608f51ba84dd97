//! What the evidence that a reader gives fixes in a file: each part of a proof or an export, by each way of trust. The
//! table is in `docs/reference/formats.md`, and `tests/checks/given.rs` forges each part by each way.

use colibri_canonical::HexDigest;
use serde::Serialize;

use crate::head::SignedTreeHead;

/// Returns which of a tree's three hashes a published one is.
pub fn matched(root: &HexDigest, head: &SignedTreeHead) -> Option<Matched> {
    let root = root.as_str();
    if root == head.head_hash {
        Some(Matched::HeadHash)
    } else if root == head.head.root_hash {
        Some(Matched::Rfc9162Root)
    } else if root == head.head.legacy_root {
        Some(Matched::LegacyRoot)
    } else {
        None
    }
}

/// Which hash a published one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// It fixes everything.
    HeadHash,
    /// It fixes the records.
    Rfc9162Root,
    /// It fixes which records there are.
    LegacyRoot,
}

/// A part of a proof or an export that evidence fixes as a whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// `id`, `type`, `task_id`, `timestamp`, `prev_hash`, `hash`, `content_hash` and, if it is there, `content`.
    Record,
    /// `agent_id` and `session_id`.
    Origin,
    /// The record's place: `leaf_index`; in an export, the order of the lines.
    Order,
    /// How many records there are: `record_count` and `tree_size`.
    Number,
    /// What else the tree head says and covers: the session's intent, task and start, both roots, the chain tips, the
    /// times, the places among the heads and in the log.
    Head,
    /// `signature`, `key_id` and `public_key`.
    Signer,
}

/// The two kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// One record, with its paths to the roots.
    Proof,
    /// All records, from which the roots are recomputed.
    Export,
}

/// What a reader gave that fits the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// Which of the head's hashes `--root` is.
    pub root: Option<Matched>,
    /// Whether one of the keys of `--key` has signed the head.
    pub signed: bool,
}

impl Given {
    /// Returns the parts that this fixes in a file all of whose checks pass. `whole`: no content is missing.
    ///
    /// The legacy tree has no mark that tells a leaf from an inner node, so a hash in it counts only if it is recomputed
    /// from a content. A path to the RFC 9162 root fixes the leaf but neither index nor size, which the head fixes; all
    /// leaves together fix both.
    pub fn fixes(self, subject: Subject, whole: bool) -> &'static [Part] {
        use Part::{Head, Number, Order, Origin, Record, Signer};
        match (self.root, subject) {
            _ if self.signed => &[Record, Origin, Order, Number, Head, Signer],
            (Some(Matched::HeadHash), _) => &[Record, Origin, Order, Number, Head],
            (Some(Matched::Rfc9162Root), Subject::Proof) => &[Record, Origin],
            (Some(Matched::Rfc9162Root), Subject::Export) => &[Record, Origin, Order, Number],
            (Some(Matched::LegacyRoot), Subject::Proof) if whole => &[Record],
            (Some(Matched::LegacyRoot), Subject::Export) if whole => &[Record, Number],
            (Some(Matched::LegacyRoot) | None, _) => &[],
        }
    }
}
