//! The head of the log: where numbering and chain end (store#log-head). It is read inside the transaction that moves it. If no
//! other connection has written since this process's last transaction, it is known from there.

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
    /// Reads the head as this transaction sees it.
    ///
    /// # Errors
    /// SQLite's error. Also fails if the row is missing or its hash is malformed.
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

    /// Checks whether its row is the only one, and numbered as the table requires: on a connection that cannot write, SQLite
    /// checks no constraint of that kind.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn stands_alone(conn: &Connection) -> rusqlite::Result<bool> {
        conn.prepare_cached("SELECT count(*) = 1 AND max(id) = 1 FROM actions_head")?
            .query_row([], |row| row.get(0))
    }

    /// Stores the head, once a transaction. The statement names the row and is OR FAIL, so that SQLite needs no copy of the page to
    /// undo it.
    ///
    /// # Errors
    /// SQLite's error; also fails if the row is missing.
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
