//! The calls that have no end yet (store#log-head), found without an index of their own. An index that every call enters
//! and leaves would cost each call two page writes, and only boots and people need it.

use colibri_runtime::handler::Fault;
use rusqlite::Connection;

use crate::db::Db;
use crate::db::sqlite::handle::storage;
use crate::params;
use crate::sqlite::write::rows::read_head;

const ROWS: &str =
    "SELECT sequence_no, boot_id FROM actions WHERE outcome = 'running' ORDER BY sequence_no DESC LIMIT ?1";

/// Returns the rows still running, the oldest first, with the process that left each.
///
/// Both numberings of the log are without gaps, so the head says how many rows are running. The walk goes back from the
/// end until it has found them all (the whole log, if the head is damaged). They are the last ones, except for a call
/// beside the loop that others have overtaken.
///
/// # Errors
/// SQLite's error.
pub(crate) fn running_rows(conn: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut rows: Vec<(i64, String)> = conn
        .prepare(ROWS)?
        .query_map([how_many(conn)], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    rows.reverse();
    Ok(rows)
}

/// Returns the processes that left the rows still running, the newest row first, of a file under examination.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn running_processes(db: &Db) -> Result<Vec<String>, Fault> {
    db.query_all(ROWS, params![how_many(db.sqlite().map_err(storage)?)], |row| row.get(1))
}

/// Returns the bound of [`ROWS`].
fn how_many(conn: &Connection) -> i64 {
    match read_head(conn) {
        Ok(head) if head.last_sequence_no >= head.last_exit_no => head.last_sequence_no - head.last_exit_no,
        // The head is of no use; to LIMIT a negative number means no limit.
        _ => -1,
    }
}
