//! Tables whose rows are tied to calls (store#ties). A successful call's row in the log keeps the hash of its reply,
//! and the reply contains the row as written. So the stored row must still produce that reply. Each domain declares
//! in its `ties` its tables, tools and replies; [`crate::verification`] compares.

use colibri_runtime::chain::envelope::{envelope_hash, ok_envelope};
use colibri_runtime::handler::Fault;
use serde::Serialize;

use crate::catalogue::ToolId;
use colibri_canonical::HexDigest;
use colibri_store::ahead::Page;
use colibri_store::db::Db;
use colibri_store::walk::Stop;

/// A tool whose successful calls write rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// The tool.
    pub tool: ToolId,
    /// Whether each successful call makes a row of its own. Otherwise a call changes a row, or none if nothing is
    /// requested; only then does it name no subject.
    pub creates: bool,
}

/// A table whose rows are tied to calls.
pub trait TiedTable: Sync {
    /// Returns the table's name, for findings.
    fn name(&self) -> &'static str;

    /// Returns the code of the finding for a row that does not match its call's reply.
    fn changed(&self) -> &'static str {
        "ROW_CHANGED"
    }

    /// Returns the tools that write it. No tool writes two tied tables.
    fn writers(&self) -> &'static [Writer];

    /// Hands over all rows, in the order in which they were made if the table keeps one.
    ///
    /// # Errors
    /// The engine's error, and what `take` returns.
    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop>;

    /// Returns the place of the row with that key; `None` if the row does not exist.
    ///
    /// # Errors
    /// The engine's error.
    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault>;

    /// Returns what hands over the places from a key on, for the tables that have many rows.
    fn places(&self) -> Option<PlacesFrom> {
        None
    }

    /// Hands over rows of related tables that belong to no row of this one, each described by a text.
    ///
    /// # Errors
    /// The engine's error, and what `take` returns.
    fn each_stray(&self, _db: &Db, _take: &mut dyn FnMut(String) -> Result<(), Stop>) -> Result<(), Stop> {
        Ok(())
    }
}

/// Fills a page with the places of the rows from a key on, in the order of their keys.
pub type PlacesFrom = fn(&Db, &str, &mut Page<String, Place>) -> Result<(), Fault>;

/// The place of a row in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Grows with each new row if the table's order has a meaning; otherwise absent.
    pub number: Option<i64>,
    /// The last call that wrote it, as the row names it.
    pub sequence_no: Option<i64>,
}

/// A row of a tied table.
#[derive(Debug, Clone)]
pub struct TiedRow<'a> {
    /// The row's subject in the log.
    pub key: &'a str,
    /// The last call that wrote it, as the row names it.
    pub sequence_no: Option<i64>,
    /// The reply that the row produces.
    pub reply: Reply,
}

/// The reply of a call, rebuilt from its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Its hash, in the form of the log.
    Hash(HexDigest),
    /// Retention pruned a part of it (trail#retention), so the hash cannot be computed.
    Dropped,
    /// The row is malformed.
    Unreadable,
}

impl Reply {
    /// Builds the reply that carries `output`, with the code that builds sent replies.
    pub fn of(output: &impl Serialize) -> Self {
        match serde_json::to_value(output) {
            Ok(value) => {
                HexDigest::parse(&envelope_hash(&ok_envelope(value))).map_or(Self::Unreadable, Self::Hash)
            }
            Err(_) => Self::Unreadable,
        }
    }
}
