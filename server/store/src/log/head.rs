//! The head of the log: where numbering and chain end (store#log-head). It is read inside the transaction that moves it.

use colibri_runtime::handler::Fault;

use crate::db::{Db, RowError};
use colibri_canonical::HexDigest;

/// The row of `actions_head`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last number given to a call.
    pub last_sequence_no: i64,
    /// The last number given to a closed row.
    pub last_exit_no: i64,
    /// That row's hash.
    pub last_row_hash: HexDigest,
}

impl Head {
    /// Reads the head as this transaction sees it.
    ///
    /// # Errors
    /// [`Fault::Storage`], also if the row is missing or its hash is malformed.
    pub fn read(db: &Db) -> Result<Self, Fault> {
        db.query_one("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head", &[], |row| {
            Ok(Self {
                last_sequence_no: row.get(0)?,
                last_exit_no: row.get(1)?,
                last_row_hash: HexDigest::parse(row.get(2)?).ok_or(RowError)?,
            })
        })
    }

    /// Checks whether its row is the only one, and numbered as the table requires: on a connection that cannot write, SQLite
    /// checks no constraint of that kind.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub(crate) fn stands_alone(db: &Db) -> Result<bool, Fault> {
        db.query_one("SELECT count(*) = 1 AND max(id) = 1 FROM actions_head", &[], |row| row.get(0))
    }
}
