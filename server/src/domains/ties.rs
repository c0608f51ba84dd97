//! Tables whose rows are tied to calls (store#ties). A successful call's row in the log keeps the hash of its
//! reply, and the reply holds the row as it was written: so the row must still give that reply. Each domain
//! says in its `ties` what its tables, tools and replies are; [`crate::verification`] compares.

use colibri_runtime::chain::envelope::{envelope_hash, ok_envelope};
use colibri_runtime::handler::Fault;
use serde::Serialize;

use crate::catalogue::ToolId;
use crate::store::db::Db;
use crate::store::walk::Stop;
use colibri_canonical::HexDigest;

/// A tool whose successful calls write rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// The tool.
    pub tool: ToolId,
    /// Each successful call makes a row of its own. Otherwise it changes a row, or none when it is asked for
    /// nothing; only then does it name no subject.
    pub creates: bool,
}

/// A table whose rows are tied to calls.
pub trait TiedTable: Sync {
    /// The table's name, for findings.
    fn name(&self) -> &'static str;

    /// The tools that write it. No tool writes two tied tables.
    fn writers(&self) -> &'static [Writer];

    /// Hands over all rows, in the order in which they were made where the table keeps one.
    ///
    /// # Errors
    /// The engine's, and what `take` returns.
    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop>;

    /// Where the row with that key stands; `None` when there is none.
    ///
    /// # Errors
    /// The engine's.
    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault>;

    /// Rows of tables beside this one that belong to none of its rows: what they are, one text each.
    ///
    /// # Errors
    /// The engine's, and what `take` returns.
    fn each_stray(&self, _db: &Db, _take: &mut dyn FnMut(String) -> Result<(), Stop>) -> Result<(), Stop> {
        Ok(())
    }
}

/// Where a row stands in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Grows with each new row where the table's order means something; otherwise absent.
    pub number: Option<i64>,
    /// The call that wrote it last, as the row says.
    pub sequence_no: Option<i64>,
}

/// A row of a tied table.
#[derive(Debug, Clone)]
pub struct TiedRow<'a> {
    /// What the log calls its subject.
    pub key: &'a str,
    /// The call that wrote it last, as the row says.
    pub sequence_no: Option<i64>,
    /// The reply that the row gives.
    pub reply: Reply,
}

/// The reply of a call, rebuilt from the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Its hash, as the log has it.
    Hash(HexDigest),
    /// A part of it was given up by rule (trail#retention), so that the hash cannot be had any more.
    Dropped,
    /// The row cannot be read as one.
    Unreadable,
}

impl Reply {
    /// The reply that carries `output`, made by the same code that makes the ones that are sent.
    pub fn of(output: &impl Serialize) -> Self {
        match serde_json::to_value(output) {
            Ok(value) => {
                HexDigest::parse(&envelope_hash(&ok_envelope(value))).map_or(Self::Unreadable, Self::Hash)
            }
            Err(_) => Self::Unreadable,
        }
    }
}
