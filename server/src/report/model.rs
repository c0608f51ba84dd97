//! The data of a report: plain values that the command collects and this module's functions render. Texts are as
//! stored; the renderer escapes them.

use serde::Serialize;

use super::tree::FoldedTree;
use crate::verification::judgement::Judgement;

/// The most thoughts on a page. If a session has more, the page shows the first and the last half of this number.
pub const MOST_THOUGHTS: usize = 1000;
/// The most tasks on a page.
pub(crate) const MOST_TASKS: usize = 200;
/// The most bytes of one thought's content on a page.
pub(crate) const MOST_CONTENT_BYTES: usize = 64 * 1024;

/// A session's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The release that made the report.
    pub version: String,
    /// The time at which it was made.
    pub made_at: String,
    /// The session.
    pub session: Session,
    /// Whether the whole database is sound, and by whose key.
    pub database: Judgement,
    /// The result of recomputing the session.
    pub verdict: Verdict,
    /// The tasks that the session touched, in the order of their chains' first records; at most [`MOST_TASKS`].
    pub tasks: Vec<Task>,
    /// The number of tasks that are not shown.
    pub more_tasks: usize,
    /// The session's thoughts.
    pub thoughts: Thoughts,
    /// The session's calls to other servers.
    pub calls: ForeignCalls,
    /// The seal and its tree; `None` while the session is open.
    pub seal: Option<Seal>,
}

/// An audit session (proof#sessions).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its purpose.
    pub intent: String,
    /// The task that it names.
    pub task_id: Option<String>,
    /// The time at which it was opened.
    pub started_at: String,
}

/// The result of recomputing chains and seal (trail#verdict).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Records recomputed, in all chains that the session touches.
    pub record_count: i64,
    /// Broken records and failed checks of the seal.
    pub broken_count: i64,
    /// Records whose content was dropped by the retention policy.
    pub unverifiable_count: i64,
    /// The first few findings.
    pub issues: Vec<Issue>,
    /// The status of the head's signature: `valid`, `invalid`, `unsigned`, `unknown_key`; `None` while the session is
    /// open.
    pub signature: Option<&'static str>,
}

/// A finding.
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
    /// The values that differ, each with a word for its origin.
    pub sides: Vec<(&'static str, String)>,
}

/// A task that the session touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The id that the thoughts name.
    pub id: String,
    /// Its row in the task pipeline; `None` if the id is not a task's, because any work may have a trail.
    pub known: Option<TaskFacts>,
    /// The session's thoughts about it.
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

/// Calls that `colibri wrap` passed on to other servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForeignCalls {
    /// Those of the session's runs, by server and tool; of a sealed session those that ended before the seal.
    pub tools: Vec<ForeignTool>,
    /// Those of a sealed session's runs that had not ended by then. The seal does not commit to them.
    pub later: Vec<ForeignTool>,
    /// What is to be said of the pin of each server, by its name.
    #[serde(skip)]
    pub pins: Vec<(String, String)>,
    /// How many calls runs of other sessions, or of none, made while this session was open.
    pub others: i64,
}

/// How the calls of a tool of another server ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForeignTool {
    /// The server's name.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// Calls that succeeded.
    pub ok: i64,
    /// Calls that the server answered with an error.
    pub failed: i64,
    /// Calls that were not passed on.
    pub refused: i64,
    /// Calls that run, or whose server died, asks for input or continues in a task.
    pub unfinished: i64,
}

/// The session's thoughts, as many as a page can hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thoughts {
    /// The number of all thoughts.
    pub total: i64,
    /// Those shown, in insertion order.
    pub shown: Vec<Thought>,
    /// What is to be noticed of their authors.
    pub notes: Vec<String>,
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
    /// The author: the agent, and the caller of the call that recorded it.
    pub who: String,
    /// That call.
    pub call: Option<i64>,
    /// The time.
    pub timestamp: String,
    /// The content.
    pub content: Content,
    /// The hash of the record before it in the chain.
    pub prev_hash: String,
    /// Its own hash.
    pub hash: String,
}

/// The content of a thought, as far as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// All of it.
    Whole(String),
    /// Its beginning.
    Cut {
        /// The part shown.
        beginning: String,
        /// The number of bytes of the whole.
        bytes: usize,
    },
    /// Dropped by the retention policy; its digest is sealed.
    Dropped {
        /// The digest.
        content_hash: String,
    },
    /// Undecodable, or different from its digest.
    Lost,
}

impl Content {
    /// Prepares the content for a page: cut at a character's border if it is too long.
    pub(crate) fn bounded(text: String) -> Self {
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
    /// The legacy root, which the sealing call returned as `root`.
    pub root: String,
    /// Records sealed.
    pub record_count: i64,
    /// The time.
    pub finalized_at: String,
    /// The tree head.
    pub head: Head,
    /// The tree of RFC 9162, reduced to fit a picture.
    pub tree: FoldedTree,
}

/// A tree head (proof#tree-head), as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The RFC 9162 root.
    pub root_hash: String,
    /// Its index among all heads of the store.
    pub head_index: i64,
    /// The head before it.
    pub prev_head_hash: String,
    /// The hash of this head, which is the value to publish.
    pub head_hash: String,
    /// The digest of the session's own facts.
    pub session_hash: String,
    /// The digest of the chains' tips.
    pub chain_tips_hash: String,
    /// The end of the audit log at that time.
    pub log_exit_no: i64,
    /// The hash of the log's last row at that time.
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
