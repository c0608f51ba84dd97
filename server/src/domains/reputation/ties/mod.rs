//! Ties of reputation's rows to each other and to calls (reputation#calls, store#ties), for [`crate::verification`].
//! Every entry names the call that wrote it; the call's subject determines which events it can have caused.

mod store;

pub use self::store::{
    Clock, clocks, count_entries, each_entry, each_event_without_entry, each_standing, entries_of_call,
    next_token, unledgered, witnesses,
};

use super::automatic::{
    SESSION_SEALED, TASK_COMMISSIONED, TASK_DONE, session_sealed_id, task_commissioned_id, task_done_id,
};
use super::event::Source;
use super::import::subject_entries;
use super::ledger::Entry;
use crate::catalogue::ToolId;

/// The table of events.
pub const HISTORY: &str = "reputation_history";

/// A row of the ledger as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// Its number.
    pub history_id: i64,
    /// The entry with its row of the history.
    pub stored: Stored,
    /// The hash that the next row continues.
    pub entry_hash: String,
    /// The key under which it may be recorded once.
    pub dedupe_key: String,
    /// Milliseconds since the Unix epoch.
    pub recorded_at: i64,
    /// The call that wrote it.
    pub sequence_no: Option<i64>,
}

/// The result of joining an entry's two rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// An entry.
    Whole(Box<Entry>),
    /// Its row of the history is missing.
    NoEvent,
    /// A column holds a value that no entry can have.
    Unreadable,
}

/// A row of `experience_tokens` as stored, without its id, which cannot be recomputed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The columns of reputation#tokens, under their names.
pub struct StoredToken {
    pub node_id: String,
    pub level: String,
    pub domain: String,
    pub scenario: Option<String>,
    pub counterparty: Option<String>,
    pub action: String,
    pub outcome_class: String,
    pub outcome_delta: i64,
    pub witnesses: String,
    pub created_at: i64,
    pub promoted_from: Option<String>,
    pub feature_hash: Option<String>,
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPlace {
    /// Grows with each token made.
    pub rowid: i64,
    /// Its id.
    pub id: String,
    /// The other columns; `None` if a column holds a value that no token can have.
    pub token: Option<StoredToken>,
}

/// Returns whether a successful call of `tool` about `subject` can have written the entry.
pub fn is_of_call(entry: &Entry, tool: &str, subject: &str) -> bool {
    let (writer, fits) = match entry.source {
        Source::Task if entry.reason == TASK_DONE.reason => {
            (ToolId::TaskUpdate, entry.event_id == task_done_id(subject))
        }
        Source::Task if entry.reason == TASK_COMMISSIONED.reason => {
            (ToolId::TaskUpdate, entry.event_id == task_commissioned_id(subject))
        }
        Source::Session if entry.reason == SESSION_SEALED.reason => {
            (ToolId::MerkleFinalize, entry.event_id == session_sealed_id(subject, &entry.node_id))
        }
        Source::Import => {
            let written = subject_entries(subject);
            let fits = written.is_some_and(|(first, last)| (first..=last).contains(&entry.history_id));
            (ToolId::ReputationImport, fits)
        }
        Source::Task | Source::Session | Source::Equivocation => return false,
    };
    writer.name() == tool && fits
}

/// Returns the tokens that the entry's event left: the raw one and the confirmed one, the latter still without the id
/// of the former. Only finished tasks leave tokens.
pub fn tokens_of(entry: &Entry, recorded_at: i64) -> Vec<StoredToken> {
    if entry.source != Source::Task || entry.reason != TASK_DONE.reason {
        return Vec::new();
    }
    let raw = StoredToken {
        node_id: entry.node_id.clone(),
        level: "L0".to_owned(),
        domain: entry.domain.as_str().to_owned(),
        scenario: None,
        counterparty: entry.acker_id.clone(),
        action: TASK_DONE.reason.to_owned(),
        outcome_class: "success".to_owned(),
        outcome_delta: entry.delta,
        witnesses: "[]".to_owned(),
        created_at: recorded_at.div_euclid(1000),
        promoted_from: None,
        feature_hash: None,
    };
    let confirmed = entry.acker_id.as_ref().map(|_| StoredToken { level: "L1".to_owned(), ..raw.clone() });
    [Some(raw), confirmed].into_iter().flatten().collect()
}
