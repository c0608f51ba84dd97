//! Tree heads: what is hashed, chained and signed when a session is sealed (proof#tree-head). Pure.

use colibri_canonical::cmp_utf16;
use serde::{Deserialize, Serialize};

use colibri_canonical::HexDigest;
use colibri_canonical::object::{number, text};

const SESSION_TAG: &[u8] = b"colibri-session-v1\n";
const TIPS_TAG: &[u8] = b"colibri-chain-tips-v1\n";
const HEAD_TAG: &[u8] = b"colibri-tree-head-v1\n";

/// The one version of every structure here.
pub const VERSION: i64 = 1;

/// The session's own fields.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // The columns of proof#tables, under their names.
pub struct SessionFacts<'a> {
    pub session_id: &'a str,
    pub intent: &'a str,
    pub task_id: Option<&'a str>,
    pub started_at: &'a str,
}

impl SessionFacts<'_> {
    /// Returns the session's hash.
    pub fn hash(&self) -> HexDigest {
        HexDigest::of(&self.message())
    }

    /// Returns the bytes that are hashed: a tag and canonical JSON.
    pub fn message(&self) -> Vec<u8> {
        let mut out = SESSION_TAG.to_vec();
        text(&mut out, b"{\"intent\":", Some(self.intent));
        text(&mut out, b",\"session_id\":", Some(self.session_id));
        text(&mut out, b",\"started_at\":", Some(self.started_at));
        text(&mut out, b",\"task_id\":", self.task_id);
        out.push(b'}');
        out
    }
}

/// Where a task's chain ended when a session was sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The columns of proof#tables, under their names.
pub struct ChainTip {
    pub task_id: String,
    pub chain_length: i64,
    pub tip_hash: String,
}

/// Returns the hash over the tips of all tasks with a record in the session. Sorts them by task, in UTF-16 order.
pub fn chain_tips_hash(tips: &mut [ChainTip]) -> HexDigest {
    HexDigest::of(&chain_tips_message(tips))
}

/// Returns the bytes that [`chain_tips_hash`] hashes: a tag and canonical JSON. Sorts the tips.
pub fn chain_tips_message(tips: &mut [ChainTip]) -> Vec<u8> {
    tips.sort_by(|left, right| cmp_utf16(&left.task_id, &right.task_id));
    let mut out = TIPS_TAG.to_vec();
    out.push(b'[');
    for (index, tip) in tips.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        number(&mut out, b"{\"chain_length\":", Some(tip.chain_length));
        text(&mut out, b",\"task_id\":", Some(&tip.task_id));
        text(&mut out, b",\"tip_hash\":", Some(&tip.tip_hash));
        out.push(b'}');
    }
    out.push(b']');
    out
}

/// A tree head: eleven fields, and the version as the twelfth. Hashes are texts, since a stored head is
/// not trusted before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields of proof#tree-head, under their names.
pub struct TreeHead {
    pub session_id: String,
    pub session_hash: String,
    pub tree_size: i64,
    pub root_hash: String,
    pub legacy_root: String,
    pub chain_tips_hash: String,
    pub head_index: i64,
    pub prev_head_hash: String,
    pub log_exit_no: i64,
    pub log_row_hash: String,
    pub finalized_at: String,
}

impl TreeHead {
    /// Returns the bytes that are hashed and signed: a tag and canonical JSON of the twelve fields.
    pub fn message(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(768);
        out.extend_from_slice(HEAD_TAG);
        text(&mut out, b"{\"chain_tips_hash\":", Some(&self.chain_tips_hash));
        text(&mut out, b",\"finalized_at\":", Some(&self.finalized_at));
        number(&mut out, b",\"head_index\":", Some(self.head_index));
        text(&mut out, b",\"legacy_root\":", Some(&self.legacy_root));
        number(&mut out, b",\"log_exit_no\":", Some(self.log_exit_no));
        text(&mut out, b",\"log_row_hash\":", Some(&self.log_row_hash));
        text(&mut out, b",\"prev_head_hash\":", Some(&self.prev_head_hash));
        text(&mut out, b",\"root_hash\":", Some(&self.root_hash));
        text(&mut out, b",\"session_hash\":", Some(&self.session_hash));
        text(&mut out, b",\"session_id\":", Some(&self.session_id));
        number(&mut out, b",\"tree_size\":", Some(self.tree_size));
        number(&mut out, b",\"v\":", Some(VERSION));
        out.push(b'}');
        out
    }

    /// Returns the head's hash.
    pub fn hash(&self) -> HexDigest {
        HexDigest::of(&self.message())
    }
}

/// A signature and the key that it claims, all in hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadSignature {
    /// Ed25519 over the head's message: 128 characters.
    pub signature: String,
    /// The key's short name: 32 characters.
    pub key_id: String,
    /// The key: 64 characters.
    pub public_key: String,
}

/// A head with its hash and, if a key was configured, its signature. In JSON one flat object of sixteen
/// members (proof#tree-head).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Flat", into = "Flat")]
pub struct SignedTreeHead {
    /// The fields that are hashed and signed.
    pub head: TreeHead,
    /// Their hash, as it is stored.
    pub head_hash: String,
    /// Their signature, as it is stored.
    pub signature: Option<HeadSignature>,
}

/// The head as it is in files. The tool's reply has the same members today; it may grow, files may not.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flat {
    v: i64,
    session_id: String,
    session_hash: String,
    tree_size: i64,
    root_hash: String,
    legacy_root: String,
    chain_tips_hash: String,
    head_index: i64,
    prev_head_hash: String,
    log_exit_no: i64,
    log_row_hash: String,
    finalized_at: String,
    head_hash: String,
    signature: Option<String>,
    key_id: Option<String>,
    public_key: Option<String>,
}

impl From<SignedTreeHead> for Flat {
    fn from(SignedTreeHead { head, head_hash, signature }: SignedTreeHead) -> Self {
        let (signature, key_id, public_key) = match signature {
            Some(signed) => (Some(signed.signature), Some(signed.key_id), Some(signed.public_key)),
            None => (None, None, None),
        };
        Self {
            v: VERSION,
            session_id: head.session_id,
            session_hash: head.session_hash,
            tree_size: head.tree_size,
            root_hash: head.root_hash,
            legacy_root: head.legacy_root,
            chain_tips_hash: head.chain_tips_hash,
            head_index: head.head_index,
            prev_head_hash: head.prev_head_hash,
            log_exit_no: head.log_exit_no,
            log_row_hash: head.log_row_hash,
            finalized_at: head.finalized_at,
            head_hash,
            signature,
            key_id,
            public_key,
        }
    }
}

impl TryFrom<Flat> for SignedTreeHead {
    type Error = &'static str;

    fn try_from(flat: Flat) -> Result<Self, Self::Error> {
        if flat.v != VERSION {
            return Err("a tree head of another version than 1");
        }
        let signature = match (flat.signature, flat.key_id, flat.public_key) {
            (Some(signature), Some(key_id), Some(public_key)) => {
                Some(HeadSignature { signature, key_id, public_key })
            }
            (None, None, None) => None,
            _ => return Err("a tree head with only a part of signature, key_id and public_key"),
        };
        let head = TreeHead {
            session_id: flat.session_id,
            session_hash: flat.session_hash,
            tree_size: flat.tree_size,
            root_hash: flat.root_hash,
            legacy_root: flat.legacy_root,
            chain_tips_hash: flat.chain_tips_hash,
            head_index: flat.head_index,
            prev_head_hash: flat.prev_head_hash,
            log_exit_no: flat.log_exit_no,
            log_row_hash: flat.log_row_hash,
            finalized_at: flat.finalized_at,
        };
        Ok(Self { head, head_hash: flat.head_hash, signature })
    }
}
