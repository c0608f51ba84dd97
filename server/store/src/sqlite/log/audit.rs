//! The rows of `actions`: written when a call enters, closed when it ends (chain#audit-row, chain#open-rows). The caller
//! has opened the transaction.

use colibri_runtime::chain::audit::{EnterEvent, ExitEvent, RowOutcome};
use rusqlite::{Connection, params};

use crate::db::{Row, RowError};
use crate::sqlite::log::head::Head;
use colibri_proof::log_row::{ClosedRow, OpenRow};

/// What is the same in every row of one process.
#[derive(Debug, Clone)]
pub struct AuditFacts {
    /// The runtime mode, as the column has it.
    pub mode: &'static str,
    /// See [`crate::sqlite::open::process::boot_id`].
    pub boot_id: String,
    /// The monotonic clock at the start, in milliseconds; `enter_ms` counts from it.
    pub boot_start_ms: f64,
}

/// Returns the next number. Fails at `i64::MAX`, which no call can reach.
fn after(last: i64) -> rusqlite::Result<i64> {
    last.checked_add(1).ok_or(rusqlite::Error::IntegralValueOutOfRange(0, last))
}

impl AuditFacts {
    /// Returns what a call's row holds from its start.
    pub(crate) fn open_row<'a>(&'a self, sequence_no: i64, event: &EnterEvent<'a>) -> OpenRow<'a> {
        OpenRow {
            args_hash: event.args_hash,
            boot_id: &self.boot_id,
            correlation_id: event.correlation_id,
            enter_ms: (event.timestamp - self.boot_start_ms).floor().max(0.0) as i64,
            entered_at: event.entered_at,
            mode: self.mode,
            request_id: event.request_id,
            sequence_no,
            tool: event.tool,
            trace_context: event.trace_context,
        }
    }
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

/// How a row is closed: the columns that enter left empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing<'a> {
    outcome: &'static str,
    error_code: Option<&'a str>,
    error_message: Option<&'a str>,
    result_hash: Option<&'a str>,
    duration_ms: Option<i64>,
    exited_at: &'a str,
    /// The id of the row that the call created or changed.
    subject: Option<&'a str>,
}

impl<'a> Closing<'a> {
    /// Returns the columns of a call that ended in this process. A cancelled one has no duration (chain#audit-row).
    ///
    /// Rolling a failed call back undoes its changes, so it has no subject.
    pub(crate) fn of(event: &'a ExitEvent<'a>, subject: Option<&'a str>) -> Self {
        Self {
            outcome: event.outcome.as_str(),
            error_code: event.error_code,
            error_message: event.error_message,
            result_hash: event.result_hash,
            duration_ms: (event.outcome != RowOutcome::Aborted).then_some(event.duration_ms),
            exited_at: event.exited_at,
            subject: subject.filter(|_| event.outcome == RowOutcome::Ok),
        }
    }

    /// Returns the columns of a call that no process will finish.
    pub(crate) fn aborted(code: &'a str, message: &'a str, now: &'a str) -> Self {
        Self {
            outcome: RowOutcome::Aborted.as_str(),
            error_code: Some(code),
            error_message: Some(message),
            result_hash: None,
            duration_ms: None,
            exited_at: now,
            subject: None,
        }
    }

    /// Returns the whole row.
    fn closed<'b>(&'b self, open: &OpenRow<'b>, exit_no: i64, head: &'b Head) -> ClosedRow<'b> {
        ClosedRow {
            args_hash: open.args_hash,
            boot_id: open.boot_id,
            correlation_id: open.correlation_id,
            duration_ms: self.duration_ms,
            enter_ms: open.enter_ms,
            entered_at: open.entered_at,
            error_code: self.error_code,
            error_message: self.error_message,
            exit_no,
            exited_at: self.exited_at,
            mode: open.mode,
            outcome: self.outcome,
            prev_hash: head.last_row_hash.as_str(),
            request_id: open.request_id,
            result_hash: self.result_hash,
            sequence_no: open.sequence_no,
            subject: self.subject,
            tool: open.tool,
            trace_context: open.trace_context,
        }
    }
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
        .query_row([sequence_no], |row| close(conn, head, &read_open(&Row::of(row))?, closing))
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

/// The columns of a closed row, in the order [`read_closed`] takes them.
pub(crate) const CLOSED_COLUMNS: &str = "correlation_id, boot_id, request_id, tool, mode, args_hash, \
     trace_context, entered_at, enter_ms, duration_ms, error_code, error_message, exit_no, exited_at, outcome, \
     prev_hash, result_hash, sequence_no, subject, row_hash";

/// A stored closed row and its stored hash.
///
/// # Errors
/// A column holds a value of another type than the table's.
pub(crate) fn read_closed<'a>(row: &Row<'a>) -> Result<(ClosedRow<'a>, &'a str), RowError> {
    let closed = ClosedRow {
        correlation_id: row.get(0)?,
        boot_id: row.get(1)?,
        request_id: row.get(2)?,
        tool: row.get(3)?,
        mode: row.get(4)?,
        args_hash: row.get(5)?,
        trace_context: row.get(6)?,
        entered_at: row.get(7)?,
        enter_ms: row.get(8)?,
        duration_ms: row.get(9)?,
        error_code: row.get(10)?,
        error_message: row.get(11)?,
        exit_no: row.get(12)?,
        exited_at: row.get(13)?,
        outcome: row.get(14)?,
        prev_hash: row.get(15)?,
        result_hash: row.get(16)?,
        sequence_no: row.get(17)?,
        subject: row.get(18)?,
    };
    Ok((closed, row.get(19)?))
}

/// The columns that a call's row holds from its start, in the order [`read_open`] takes them.
pub(crate) const OPEN_COLUMNS: &str = "correlation_id, boot_id, request_id, tool, mode, args_hash, trace_context, \
     entered_at, enter_ms, sequence_no";

/// The part of a stored row that is there from its start.
///
/// # Errors
/// A column holds a value of another type than the table's.
pub(crate) fn read_open<'a>(row: &Row<'a>) -> Result<OpenRow<'a>, RowError> {
    Ok(OpenRow {
        correlation_id: row.get(0)?,
        boot_id: row.get(1)?,
        request_id: row.get(2)?,
        tool: row.get(3)?,
        mode: row.get(4)?,
        args_hash: row.get(5)?,
        trace_context: row.get(6)?,
        entered_at: row.get(7)?,
        enter_ms: row.get(8)?,
        sequence_no: row.get(9)?,
    })
}
