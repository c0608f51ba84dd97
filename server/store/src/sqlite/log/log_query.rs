//! Finds calls in the audit log, for people: filtered, oldest first, one by one.

use colibri_runtime::handler::Fault;
use serde::Serialize;

use crate::db::{Db, Row, RowError, Value};

/// What the column `outcome` may hold (chain#audit-row).
pub const OUTCOMES: [&str; 7] = ["running", "ok", "domain_error", "error", "invalid", "denied", "aborted"];

/// Which calls are wanted; absent fields match all calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// The name that was called.
    pub tool: Option<String>,
    /// One of [`OUTCOMES`].
    pub outcome: Option<String>,
    /// The id of the row that the call created or changed.
    pub subject: Option<String>,
    /// The process that served the call.
    pub boot_id: Option<String>,
    /// Entered at this time or later; a time stamp as stored, or its beginning.
    pub since: Option<String>,
    /// Entered before this time; likewise.
    pub until: Option<String>,
    /// At most this many, the newest.
    pub limit: Option<u32>,
}

/// A row of `actions`, its columns in the table's order (chain#audit-row).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // The columns, under their names.
pub struct LogRow<'a> {
    pub sequence_no: i64,
    pub correlation_id: &'a str,
    pub boot_id: &'a str,
    pub request_id: Option<&'a str>,
    pub tool: &'a str,
    pub mode: &'a str,
    pub args_hash: &'a str,
    pub trace_context: Option<&'a str>,
    pub entered_at: &'a str,
    pub enter_ms: i64,
    pub outcome: &'a str,
    pub error_code: Option<&'a str>,
    pub error_message: Option<&'a str>,
    pub result_hash: Option<&'a str>,
    pub duration_ms: Option<i64>,
    pub exited_at: Option<&'a str>,
    pub exit_no: Option<i64>,
    pub prev_hash: Option<&'a str>,
    pub row_hash: Option<&'a str>,
    pub subject: Option<&'a str>,
}

const COLUMNS: &str = "sequence_no, correlation_id, boot_id, request_id, tool, mode, args_hash, trace_context, \
     entered_at, enter_ms, outcome, error_code, error_message, result_hash, duration_ms, exited_at, exit_no, \
     prev_hash, row_hash, subject";

/// Hands over the matching calls, in the order of their numbers, up to the last or until `take` returns `false`.
///
/// # Errors
/// SQLite's error; also for a row that holds a value of a wrong type.
pub fn each_call(
    db: &Db,
    filter: &LogFilter,
    mut take: impl FnMut(&LogRow<'_>) -> bool,
) -> Result<(), Fault> {
    let (condition, params) = matching(filter);
    let sql = match filter.limit {
        None => format!("SELECT {COLUMNS} FROM actions WHERE {condition} ORDER BY sequence_no"),
        // The newest are found from the end, and shown in order.
        Some(limit) => format!(
            "SELECT {COLUMNS} FROM actions WHERE sequence_no IN (SELECT sequence_no FROM actions \
             WHERE {condition} ORDER BY sequence_no DESC LIMIT {limit}) ORDER BY sequence_no"
        ),
    };
    db.query_each(&sql, &params, |row| Ok(take(&read(row)?)))
}

/// Returns the filter as a condition with its bound values.
fn matching(filter: &LogFilter) -> (String, Vec<Value<'_>>) {
    let parts = [
        ("tool =", &filter.tool),
        ("outcome =", &filter.outcome),
        ("subject =", &filter.subject),
        ("boot_id =", &filter.boot_id),
        ("entered_at >=", &filter.since),
        ("entered_at <", &filter.until),
    ];
    let (mut conditions, mut params) = (vec!["1".to_owned()], Vec::new());
    for (comparison, value) in parts {
        let Some(value) = value else { continue };
        params.push(Value::Text(value));
        conditions.push(format!("{comparison} ?{}", params.len()));
    }
    (conditions.join(" AND "), params)
}

fn read<'a>(row: &Row<'a>) -> Result<LogRow<'a>, RowError> {
    Ok(LogRow {
        sequence_no: row.get(0)?,
        correlation_id: row.get(1)?,
        boot_id: row.get(2)?,
        request_id: row.get(3)?,
        tool: row.get(4)?,
        mode: row.get(5)?,
        args_hash: row.get(6)?,
        trace_context: row.get(7)?,
        entered_at: row.get(8)?,
        enter_ms: row.get(9)?,
        outcome: row.get(10)?,
        error_code: row.get(11)?,
        error_message: row.get(12)?,
        result_hash: row.get(13)?,
        duration_ms: row.get(14)?,
        exited_at: row.get(15)?,
        exit_no: row.get(16)?,
        prev_hash: row.get(17)?,
        row_hash: row.get(18)?,
        subject: row.get(19)?,
    })
}
