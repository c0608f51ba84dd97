//! The calls that have no end yet (store#log-head), found without an index of their own: an index that every call enters
//! and leaves again costs each call two page writes, and only boots and people ask.

use colibri_runtime::handler::Fault;
use rusqlite::Connection;

use super::db::Db;
use super::head::Head;

const ROWS: &str =
    "SELECT sequence_no, boot_id FROM actions WHERE outcome = 'running' ORDER BY sequence_no DESC LIMIT ?1";

/// Rows still running, the oldest first, with the process that left each.
///
/// Both numberings of the log are without gaps, so the head says how many there are; the walk goes back from the
/// end until it has met them all (the whole log, should the head be damaged). They are the last ones, but for a call beside the loop that others have overtaken.
///
/// # Errors
/// SQLite's error.
pub(super) fn running_rows(conn: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut rows: Vec<(i64, String)> = conn
        .prepare(ROWS)?
        .query_map([how_many(conn)], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    rows.reverse();
    Ok(rows)
}

/// The processes that have left the rows still running, the newest row first, of a file under examination.
///
/// # Errors
/// [`Fault::Storage`].
pub(super) fn running_processes(db: &Db) -> Result<Vec<String>, Fault> {
    db.query_all(ROWS, [how_many(&db.conn)], |row| row.get(1))
}

/// The bound of [`ROWS`].
fn how_many(conn: &Connection) -> i64 {
    match Head::read(conn) {
        Ok(head) if head.last_sequence_no >= head.last_exit_no => head.last_sequence_no - head.last_exit_no,
        // A head that says nothing of use; LIMIT takes a negative number for none.
        _ => -1,
    }
}
