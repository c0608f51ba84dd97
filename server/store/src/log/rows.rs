//! What a row of `actions` holds, from its start and from its end (chain#audit-row, chain#open-rows).

use colibri_runtime::chain::audit::{EnterEvent, ExitEvent, RowOutcome};

use crate::db::{Row, RowError};
use crate::log::head::Head;
use colibri_proof::log_row::{ClosedRow, OpenRow};

/// What is the same in every row of one process.
#[derive(Debug, Clone)]
pub struct AuditFacts {
    /// The runtime mode, as the column has it.
    pub mode: &'static str,
    /// The name of the process in the log: unique to it, with a label that the operator may choose.
    pub boot_id: String,
    /// The monotonic clock at the start, in milliseconds; `enter_ms` counts from it.
    pub boot_start_ms: f64,
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

/// The message of a row whose process died (store#process-locks). The catalogue has it, too, and a test compares them.
pub const ABORTED_MESSAGE: &str = "process ended before audit exit";

/// How a row is closed: the columns that enter left empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing<'a> {
    pub outcome: &'static str,
    pub error_code: Option<&'a str>,
    pub error_message: Option<&'a str>,
    pub result_hash: Option<&'a str>,
    pub duration_ms: Option<i64>,
    pub exited_at: &'a str,
    /// The id of the row that the call created or changed.
    pub subject: Option<&'a str>,
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
    pub fn closed<'b>(&'b self, open: &OpenRow<'b>, exit_no: i64, head: &'b Head) -> ClosedRow<'b> {
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
