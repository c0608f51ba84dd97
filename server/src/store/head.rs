//! The head of the log: where numbering and chain stand (store#log-head). It is read inside the transaction that moves it, or known
//! from the last one of this process if nobody has written since.

use rusqlite::Connection;

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
    /// The head as this transaction sees it.
    ///
    /// # Errors
    /// The engine's, also when the row is missing or its hash is none.
    pub fn read(conn: &Connection) -> rusqlite::Result<Self> {
        conn.prepare_cached("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head")?
            .query_row([], |row| {
                let digest = row.get_ref(2)?.as_str().ok().and_then(HexDigest::parse);
                Ok(Self {
                    last_sequence_no: row.get(0)?,
                    last_exit_no: row.get(1)?,
                    last_row_hash: digest.ok_or(rusqlite::Error::InvalidQuery)?,
                })
            })
    }

    /// Whether its row is the only one, and numbered as the table wants it: SQLite checks no constraint of that kind
    /// on a connection that cannot write.
    ///
    /// # Errors
    /// The engine's.
    pub fn stands_alone(conn: &Connection) -> rusqlite::Result<bool> {
        conn.prepare_cached("SELECT count(*) = 1 AND max(id) = 1 FROM actions_head")?
            .query_row([], |row| row.get(0))
    }

    /// Stores it, once a transaction. The statement names the row and is OR FAIL, so that SQLite needs no copy of the page to undo
    /// it.
    ///
    /// # Errors
    /// The engine's, also when there is no row to update.
    pub fn write(&self, conn: &Connection) -> rusqlite::Result<()> {
        let changed = conn
            .prepare_cached(
                "UPDATE OR FAIL actions_head SET last_sequence_no = ?1, last_exit_no = ?2, last_row_hash = ?3 \
                 WHERE id = 1",
            )?
            .execute((self.last_sequence_no, self.last_exit_no, self.last_row_hash.as_str()))?;
        if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
    }
}
