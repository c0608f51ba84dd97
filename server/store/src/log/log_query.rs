//! Finds calls in the audit log, for people: filtered, oldest first, one by one.

use colibri_runtime::handler::Fault;
use serde::Serialize;

use crate::callers::{self, CallerRow};
use crate::db::{Db, Row, RowError, Value};
use crate::notes::{NoteRow, notes_on};

/// What the column `outcome` may hold (chain#audit-row).
pub const OUTCOMES: [&str; 7] = ["running", "ok", "domain_error", "error", "invalid", "denied", "aborted"];

/// Which calls are wanted; absent fields match all calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// The name that was called.
    pub tool: Option<String>,
    /// Names that are not before the first text and before the second, by their bytes.
    pub tools: Option<(String, String)>,
    /// One of [`OUTCOMES`].
    pub outcome: Option<String>,
    /// The id of the row that the call created or changed.
    pub subject: Option<String>,
    /// The process that served the call.
    pub boot_id: Option<String>,
    /// On whose behalf the caller's host ran.
    pub actor: Option<String>,
    /// The name or the title of the caller's client.
    pub client: Option<String>,
    /// The number of the caller.
    pub caller: Option<i64>,
    /// Entered at this time or later; a time stamp as stored, or its beginning.
    pub since: Option<String>,
    /// Entered before this time; likewise.
    pub until: Option<String>,
    /// Calls with this number or a higher one.
    pub from: Option<i64>,
    /// At most this many, the newest.
    pub limit: Option<u32>,
}

/// A row of `actions`, its columns in the table's order (chain#audit-row), and the call's caller (people#callers).
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
    pub caller_no: Option<i64>,
    pub caller: Option<&'a CallerRow>,
    /// What was learned about it beside its outcome.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub notes: &'a [NoteRow],
}

const COLUMNS: &str = "a.sequence_no, a.correlation_id, a.boot_id, a.request_id, a.tool, a.mode, a.args_hash, a.trace_context, \
     a.entered_at, a.enter_ms, a.outcome, a.error_code, a.error_message, a.result_hash, a.duration_ms, a.exited_at, a.exit_no, \
     a.prev_hash, a.row_hash, a.subject";

/// How many columns of a call stand before those of its caller.
const CALL_COLUMNS: usize = 20;

/// Each call with its caller, if it has one. The server itself calls `caller_begin`.
const CALLS: &str = "actions AS a LEFT JOIN callers AS c ON c.caller_no = (SELECT caller_no FROM callers \
     WHERE boot_id = a.boot_id AND sequence_no < a.sequence_no \
     AND a.tool <> 'caller_begin' ORDER BY sequence_no DESC LIMIT 1)";

/// Hands over the matching calls, in the order of their numbers, up to the last or until `take` returns `false`.
///
/// # Errors
/// The engine's error; also for a row that holds a value of a wrong type.
pub fn each_call(
    db: &Db,
    filter: &LogFilter,
    mut take: impl FnMut(&LogRow<'_>) -> bool,
) -> Result<(), Fault> {
    let (condition, params) = matching(filter);
    // The newest are found from the end, and shown in order.
    let condition = match filter.limit {
        None => condition,
        Some(limit) => format!(
            "a.sequence_no IN (SELECT a.sequence_no FROM {CALLS} WHERE {condition} \
             ORDER BY a.sequence_no DESC LIMIT {limit})"
        ),
    };
    let sql = format!(
        "SELECT {COLUMNS}, c.caller_no, (SELECT count(*) FROM call_notes WHERE about = a.sequence_no) \
         FROM {CALLS} WHERE {condition} ORDER BY a.sequence_no"
    );
    // Calls of one caller follow each other, so it is read once for all of them.
    let mut caller: Option<CallerRow> = None;
    db.walk(&sql, &params, |row| {
        let caller_no: Option<i64> = row.get(CALL_COLUMNS)?;
        if caller_no != caller.as_ref().map(|caller| caller.caller_no) {
            caller = match caller_no {
                Some(caller_no) => callers::caller(db, caller_no)?,
                None => None,
            };
        }
        let notes = match row.get::<i64>(CALL_COLUMNS + 1)? {
            0 => Vec::new(),
            _ => notes_on(db, row.get(0)?)?,
        };
        Ok::<_, Fault>(take(&read(row, caller.as_ref(), &notes)?))
    })
}

/// How many rows in a row must be too old before none is looked for behind them: a clock that was set back stamps few.
pub const MOST_OLDER: u32 = 10_000;

/// Returns the first of the newest calls that were entered at a time or later, without a walk through the whole log.
///
/// # Errors
/// The engine's error.
pub fn first_since(db: &Db, since: &str) -> Result<Option<i64>, Fault> {
    let (mut first, mut older) = (None, 0);
    let sql = "SELECT sequence_no, entered_at FROM actions ORDER BY sequence_no DESC";
    db.walk(sql, &[], |row| {
        if row.get::<&str>(1)? >= since {
            (first, older) = (Some(row.get(0)?), 0);
        } else {
            older += 1;
        }
        Ok::<_, Fault>(older < MOST_OLDER)
    })?;
    Ok(first)
}

/// How many calls of a time ended in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallsOfTime {
    /// The beginning of their stamps: `2026-11-01T10`.
    pub time: String,
    /// One of [`OUTCOMES`].
    pub outcome: String,
    /// Their error code.
    pub code: Option<String>,
    /// How many.
    pub count: i64,
}

/// Counts the calls since a time by the first `precision` characters of their stamps and by outcome and code, in the order of time. `first` is
/// what [`first_since`] found.
///
/// # Errors
/// The engine's error.
pub fn count_by_time(db: &Db, since: &str, first: i64, precision: usize) -> Result<Vec<CallsOfTime>, Fault> {
    let sql = format!(
        "SELECT substr(entered_at, 1, {precision}), outcome, error_code, \
         count(*) FROM actions WHERE entered_at >= ?1 AND sequence_no >= ?2 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    );
    let values = [Value::Text(since), Value::Integer(first)];
    db.query_all(&sql, &values, |row| {
        Ok(CallsOfTime { time: row.get(0)?, outcome: row.get(1)?, code: row.get(2)?, count: row.get(3)? })
    })
}

/// Returns the earliest and the latest stamp of the calls since a time; `first` is what [`first_since`] found.
///
/// # Errors
/// The engine's error.
pub fn ends_of(db: &Db, since: &str, first: i64) -> Result<Option<(String, String)>, Fault> {
    let sql =
        "SELECT min(entered_at), max(entered_at) FROM actions WHERE entered_at >= ?1 AND sequence_no >= ?2";
    let ends: (Option<String>, Option<String>) =
        db.query_one(sql, &[Value::Text(since), Value::Integer(first)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    Ok(ends.0.zip(ends.1))
}

/// Counts the matching calls. The limit does not count.
///
/// # Errors
/// The engine's error.
pub fn count_calls(db: &Db, filter: &LogFilter) -> Result<i64, Fault> {
    let (condition, params) = matching(filter);
    db.query_one(&format!("SELECT count(*) FROM {CALLS} WHERE {condition}"), &params, |row| row.get(0))
}

/// Returns the filter as a condition with its bound values.
fn matching(filter: &LogFilter) -> (String, Vec<Value<'_>>) {
    fn text(value: &Option<String>) -> Option<Value<'_>> {
        value.as_deref().map(Value::Text)
    }
    let parts = [
        (("a.tool =", ""), text(&filter.tool)),
        (("a.tool >=", ""), filter.tools.as_ref().map(|(first, _)| Value::Text(first))),
        (("a.tool <", ""), filter.tools.as_ref().map(|(_, behind)| Value::Text(behind))),
        (("a.outcome =", ""), text(&filter.outcome)),
        (("a.subject =", ""), text(&filter.subject)),
        (("a.boot_id =", ""), text(&filter.boot_id)),
        (("c.actor =", ""), text(&filter.actor)),
        (("", " IN (c.client_name, c.client_title)"), text(&filter.client)),
        (("c.caller_no =", ""), filter.caller.map(Value::Integer)),
        (("a.entered_at >=", ""), text(&filter.since)),
        (("a.entered_at <", ""), text(&filter.until)),
        (("a.sequence_no >=", ""), filter.from.map(Value::Integer)),
    ];
    let (mut conditions, mut params) = ("TRUE".to_owned(), Vec::new());
    for ((before, after), value) in parts {
        let Some(value) = value else { continue };
        params.push(value);
        conditions.push_str(&format!(" AND {before} ?{}{after}", params.len()));
    }
    (conditions, params)
}

fn read<'a>(
    row: &Row<'a>,
    caller: Option<&'a CallerRow>,
    notes: &'a [NoteRow],
) -> Result<LogRow<'a>, RowError> {
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
        caller_no: caller.map(|caller| caller.caller_no),
        caller,
        notes,
    })
}
