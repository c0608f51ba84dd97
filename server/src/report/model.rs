//! What a report shows: plain data, gathered by the command and rendered by this module's functions. Texts are
//! as stored; escaping is the renderer's.

use super::tree::FoldedTree;

/// The most thoughts that a page shows; of more, the first and the last half of this number.
pub const MOST_THOUGHTS: usize = 1000;
/// The most tasks that a page shows.
pub const MOST_TASKS: usize = 200;
/// The most bytes of one thought's content that a page shows.
pub const MOST_CONTENT_BYTES: usize = 64 * 1024;

/// A session's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The release that made it.
    pub version: String,
    /// When it was made.
    pub made_at: String,
    /// The session.
    pub session: Session,
    /// What a recomputation of everything shown found.
    pub verdict: Verdict,
    /// The tasks that the session touched, in the order in which their chains begin; at most [`MOST_TASKS`].
    pub tasks: Vec<Task>,
    /// Tasks that are not shown.
    pub more_tasks: usize,
    /// The session's thoughts.
    pub thoughts: Thoughts,
    /// The seal and its tree; `None` while the session is open.
    pub seal: Option<Seal>,
}

/// An audit session (proof#sessions).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// What it was opened for.
    pub intent: String,
    /// The task that it names.
    pub task_id: Option<String>,
    /// When it was opened.
    pub started_at: String,
}

/// What recomputing chains and seal found (trail#verdict).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Records recomputed, in all chains that the session touches.
    pub record_count: i64,
    /// Broken records and failed checks of the seal.
    pub broken_count: i64,
    /// Records whose content was dropped by the retention policy.
    pub unverifiable_count: i64,
    /// What is wrong, the first few.
    pub issues: Vec<Issue>,
    /// Of the head's signature: `valid`, `invalid`, `unsigned`, `unknown_key`; `None` while the session is open.
    pub signature: Option<&'static str>,
}

/// Something wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Issue {
    /// The code of proof#seal-verification.
    pub code: &'static str,
    /// The chain.
    pub task_id: Option<String>,
    /// The record.
    pub record_id: Option<String>,
    /// Its place in the chain or among the leaves.
    pub index: Option<i64>,
    /// The values that do not agree, each with the word that says where it comes from.
    pub sides: Vec<(&'static str, String)>,
}

/// A task that the session touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// As the thoughts name it.
    pub id: String,
    /// What the task pipeline knows of it: a trail may be kept for work that is no task.
    pub known: Option<TaskFacts>,
    /// Thoughts of the session on it.
    pub in_session: i64,
    /// The length of its whole chain.
    pub chain_length: i64,
    /// Broken records of that chain.
    pub broken_count: i64,
}

/// A row of the task pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFacts {
    /// Its title.
    pub title: String,
    /// Its state.
    pub state: String,
}

/// The session's thoughts, or as many of them as a page holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thoughts {
    /// How many there are.
    pub total: i64,
    /// Those shown, in insertion order.
    pub shown: Vec<Thought>,
}

/// A thought record (trail#record).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    /// Its place in the session, from 0; after the seal, its leaf.
    pub position: i64,
    /// Its id.
    pub id: String,
    /// Plan, analysis, decision or reflection.
    pub kind: String,
    /// The task, whose chain it belongs to.
    pub task_id: String,
    /// Who wrote it.
    pub agent_id: String,
    /// When.
    pub timestamp: String,
    /// What.
    pub content: Content,
    /// The hash of the record before it in the chain.
    pub prev_hash: String,
    /// Its own.
    pub hash: String,
}

/// The content of a thought, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// All of it.
    Whole(String),
    /// Its beginning.
    Cut {
        /// What is shown.
        beginning: String,
        /// Bytes of the whole.
        bytes: usize,
    },
    /// Dropped by the retention policy; its digest is sealed.
    Dropped {
        /// The digest.
        content_hash: String,
    },
    /// Undecodable, or not what its digest says.
    Lost,
}

impl Content {
    /// The content as a page shows it: cut, at a character's border, where it is too long.
    pub fn bounded(text: String) -> Self {
        if text.len() <= MOST_CONTENT_BYTES {
            return Self::Whole(text);
        }
        let end = text.floor_char_boundary(MOST_CONTENT_BYTES);
        Self::Cut { beginning: text[..end].to_owned(), bytes: text.len() }
    }
}

/// A seal (proof#tree-head).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The legacy root: what the sealing call answered as `root`.
    pub root: String,
    /// Records sealed.
    pub record_count: i64,
    /// When.
    pub finalized_at: String,
    /// The tree head.
    pub head: Head,
    /// The tree of RFC 9162, as a picture can hold it.
    pub tree: FoldedTree,
}

/// A tree head (proof#tree-head), as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The RFC 9162 root.
    pub root_hash: String,
    /// Its place among all heads of the store.
    pub head_index: i64,
    /// The head before it.
    pub prev_head_hash: String,
    /// The hash of this one: what is worth publishing.
    pub head_hash: String,
    /// The digest of the session's own facts.
    pub session_hash: String,
    /// The digest of the chains' tips.
    pub chain_tips_hash: String,
    /// Where the audit log ended.
    pub log_exit_no: i64,
    /// The hash of the log's last row then.
    pub log_row_hash: String,
    /// Signature, key id and public key.
    pub signature: Option<Signature>,
}

/// A head's signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Ed25519, in hex.
    pub signature: String,
    /// The key's id.
    pub key_id: String,
    /// The key.
    pub public_key: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_contents_are_cut_at_a_characters_border() {
        let long = format!("{}é and more", "a".repeat(MOST_CONTENT_BYTES - 1));
        let bytes = long.len();
        let beginning = "a".repeat(MOST_CONTENT_BYTES - 1);
        assert_eq!(Content::bounded(long), Content::Cut { beginning, bytes });
        let whole = "é".repeat(MOST_CONTENT_BYTES / 2);
        assert_eq!(Content::bounded(whole.clone()), Content::Whole(whole));
    }
}
