//! The calls that have no end yet (alpha §5.3), found without an index of their own: an index that every call enters
//! and leaves again costs each call two page writes, and only boots and people ask.

use rusqlite::Connection;

use super::head::Head;

/// Rows still running, the oldest first, with the process that left each.
///
/// Both numberings of the log are without gaps, so the head says how many there are; the walk goes back from the
/// end until it has met them all (the whole log, should the head be damaged). They are the last ones, but for a call beside the loop that others have overtaken.
///
/// # Errors
/// The engine's.
pub(super) fn running_rows(conn: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    let open = match Head::read(conn) {
        Ok(head) if head.last_sequence_no >= head.last_exit_no => head.last_sequence_no - head.last_exit_no,
        // A head that says nothing of use; LIMIT takes a negative number for none.
        _ => -1,
    };
    let mut rows: Vec<(i64, String)> = conn
        .prepare(
            "SELECT sequence_no, boot_id FROM actions WHERE outcome = 'running' ORDER BY sequence_no DESC LIMIT ?1",
        )?
        .query_map([open], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    rows.reverse();
    Ok(rows)
}
