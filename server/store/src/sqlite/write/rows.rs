//! The rows of `actions` and its head in SQLite: written when a call enters, closed when it ends. The caller has opened the
//! transaction. If no other connection has written since this process's last transaction, the head is known from there.

use colibri_runtime::chain::audit::EnterEvent;
use rusqlite::{Connection, params};

use crate::db::Row;
use crate::db::sqlite::row::SqliteRow;
use crate::log::head::Head;
use crate::log::rows::{AuditFacts, Closing, OPEN_COLUMNS, read_open};
use colibri_canonical::HexDigest;
use colibri_proof::log_row::OpenRow;

/// Returns the next number. Fails at `i64::MAX`, which no call can reach.
fn after(last: i64) -> rusqlite::Result<i64> {
    last.checked_add(1).ok_or(rusqlite::Error::IntegralValueOutOfRange(0, last))
}

/// Writes a call's enter row with the number that the head says is next.
///
/// # Errors
/// SQLite's error; [`rusqlite::Error::StatementChangedRows`] if the table does not end where the head says. A row exists then,
/// which the caller must roll back; the head is unchanged.
pub(crate) fn enter(
    conn: &Connection,
    facts: &AuditFacts,
    head: &mut Head,
    event: &EnterEvent<'_>,
) -> rusqlite::Result<i64> {
    let sequence_no = after(head.last_sequence_no)?;
    let row = facts.open_row(sequence_no, event);
    // The row gets the table's next number. If the statement named the number, SQLite would look it up, and copy the page to
    // undo the row.
    conn.prepare_cached(
        "INSERT OR FAIL INTO actions (correlation_id, boot_id, request_id, tool, mode, args_hash, \
         trace_context, entered_at, enter_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        row.correlation_id,
        row.boot_id,
        row.request_id,
        row.tool,
        row.mode,
        row.args_hash,
        row.trace_context,
        row.entered_at,
        row.enter_ms,
    ])?;
    if conn.last_insert_rowid() != sequence_no {
        return Err(rusqlite::Error::StatementChangedRows(0));
    }
    head.last_sequence_no = sequence_no;
    Ok(sequence_no)
}

/// Closes the running row of a call that a dead process left. The row holds as much as that process wrote.
///
/// # Errors
/// SQLite's error; [`rusqlite::Error::QueryReturnedNoRows`] if the row is missing or not running.
/// Row and head are unchanged then.
pub(crate) fn close_stored(
    conn: &Connection,
    head: &mut Head,
    sequence_no: i64,
    closing: &Closing<'_>,
) -> rusqlite::Result<()> {
    let sql = format!("SELECT {OPEN_COLUMNS} FROM actions WHERE sequence_no = ?1 AND outcome = 'running'");
    conn.prepare_cached(&sql)?
        .query_row([sequence_no], |row| close(conn, head, &read_open(&Row::from(SqliteRow(row)))?, closing))
}

/// Closes a running row and links it to the log's chain. The hash covers what the call was entered with, so a change of
/// the row meanwhile is detected.
///
/// # Errors
/// SQLite's error; [`rusqlite::Error::StatementChangedRows`] if the row is missing or not running.
/// Row and head are unchanged then.
pub(crate) fn close(
    conn: &Connection,
    head: &mut Head,
    open: &OpenRow<'_>,
    closing: &Closing<'_>,
) -> rusqlite::Result<()> {
    let exit_no = after(head.last_exit_no)?;
    let row_hash = closing.closed(open, exit_no, head).hash();
    let changed = conn
        .prepare_cached(
            "UPDATE OR FAIL actions SET outcome = ?2, error_code = ?3, error_message = ?4, result_hash = ?5, \
             duration_ms = ?6, exited_at = ?7, exit_no = ?8, prev_hash = ?9, row_hash = ?10, subject = ?11 \
             WHERE sequence_no = ?1 AND outcome = 'running'",
        )?
        .execute(params![
            open.sequence_no,
            closing.outcome,
            closing.error_code,
            closing.error_message,
            closing.result_hash,
            closing.duration_ms,
            closing.exited_at,
            exit_no,
            head.last_row_hash.as_str(),
            row_hash.as_str(),
            closing.subject,
        ])?;
    if changed != 1 {
        return Err(rusqlite::Error::StatementChangedRows(changed));
    }
    head.last_exit_no = exit_no;
    head.last_row_hash = row_hash;
    Ok(())
}

/// Checks whether a row exists and is running.
///
/// # Errors
/// SQLite's error.
pub(crate) fn is_open(conn: &Connection, sequence_no: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM actions WHERE sequence_no = ?1 AND outcome = 'running')",
    )?
    .query_row([sequence_no], |row| row.get(0))
}

/// Reads the head as this transaction sees it.
///
/// # Errors
/// SQLite's error. Also fails if the row is missing or its hash is malformed.
pub(crate) fn read_head(conn: &Connection) -> rusqlite::Result<Head> {
    conn.prepare_cached("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head")?.query_row(
        [],
        |row| {
            let digest = row.get_ref(2)?.as_str().ok().and_then(HexDigest::parse);
            Ok(Head {
                last_sequence_no: row.get(0)?,
                last_exit_no: row.get(1)?,
                last_row_hash: digest.ok_or(rusqlite::Error::InvalidQuery)?,
            })
        },
    )
}

/// Stores the head, once a transaction. The statement names the row and is OR FAIL, so that SQLite needs no copy of the page to
/// undo it.
///
/// # Errors
/// SQLite's error; also fails if the row is missing.
pub(crate) fn write_head(conn: &Connection, head: &Head) -> rusqlite::Result<()> {
    let changed = conn
        .prepare_cached(
            "UPDATE OR FAIL actions_head SET last_sequence_no = ?1, last_exit_no = ?2, last_row_hash = ?3 \
             WHERE id = 1",
        )?
        .execute((head.last_sequence_no, head.last_exit_no, head.last_row_hash.as_str()))?;
    if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
}
