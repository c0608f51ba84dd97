//! The SQL of wrapped servers: runs of `colibri wrap`, and the lists of tools that were pinned.

use colibri_runtime::handler::{Fault, ToolError as _};

use crate::catalogue::PinsNoteError;
use colibri_store::db::{Db, Row, RowError};
use colibri_store::params;

/// A row of `wrap_runs`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The columns, under their names.
pub(crate) struct RunRow {
    pub run_no: i64,
    pub run_id: String,
    pub boot_id: String,
    pub name: String,
    pub program: String,
    pub command_hash: String,
    pub pin: String,
    pub read_only: i64,
    pub allow: String,
    pub deny: String,
    pub session_id: Option<String>,
    pub started_at: String,
    pub sequence_no: i64,
}

/// A row of `tool_pins`, without its list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The columns, under their names.
pub(crate) struct PinRow {
    pub pin_no: i64,
    pub name: String,
    pub event: String,
    pub list_hash: String,
    pub tools: i64,
    pub run_id: Option<String>,
    pub recorded_at: String,
    pub sequence_no: i64,
}

const RUN: &str = "run_no, run_id, boot_id, name, program, command_hash, pin, read_only, allow, deny, session_id, \
     started_at, sequence_no";
const PIN: &str = "pin_no, name, event, list_hash, tools, run_id, recorded_at, sequence_no";

fn read_run(row: &Row<'_>) -> Result<RunRow, RowError> {
    Ok(RunRow {
        run_no: row.get(0)?,
        run_id: row.get(1)?,
        boot_id: row.get(2)?,
        name: row.get(3)?,
        program: row.get(4)?,
        command_hash: row.get(5)?,
        pin: row.get(6)?,
        read_only: row.get(7)?,
        allow: row.get(8)?,
        deny: row.get(9)?,
        session_id: row.get(10)?,
        started_at: row.get(11)?,
        sequence_no: row.get(12)?,
    })
}

fn read_pin(row: &Row<'_>) -> Result<PinRow, RowError> {
    Ok(PinRow {
        pin_no: row.get(0)?,
        name: row.get(1)?,
        event: row.get(2)?,
        list_hash: row.get(3)?,
        tools: row.get(4)?,
        run_id: row.get(5)?,
        recorded_at: row.get(6)?,
        sequence_no: row.get(7)?,
    })
}

/// Returns the number that the next run gets.
pub(super) fn next_run_no(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT coalesce(max(run_no), 0) + 1 FROM wrap_runs", &[], |row| row.get(0))
}

/// Adds a run.
pub(super) fn insert_run(db: &Db, run: &RunRow) -> Result<(), Fault> {
    let sql = format!(
        "INSERT OR FAIL INTO wrap_runs ({RUN}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    );
    let values = params![
        run.run_no,
        run.run_id,
        run.boot_id,
        run.name,
        run.program,
        run.command_hash,
        run.pin,
        run.read_only,
        run.allow,
        run.deny,
        run.session_id,
        run.started_at,
        run.sequence_no,
    ];
    db.execute(&sql, values)
}

/// Returns a run.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn run(db: &Db, run_id: &str) -> Result<Option<RunRow>, Fault> {
    db.query_opt(&format!("SELECT {RUN} FROM wrap_runs WHERE run_id = ?1"), params![run_id], read_run)
}

/// Returns a row of `tool_pins`.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn pin(db: &Db, pin_no: i64) -> Result<Option<PinRow>, Fault> {
    db.query_opt(&format!("SELECT {PIN} FROM tool_pins WHERE pin_no = ?1"), params![pin_no], read_pin)
}

/// Returns the name of the server whose calls a run passed on.
pub(super) fn name_of_run(db: &Db, run_id: &str) -> Result<Option<String>, Fault> {
    db.query_opt("SELECT name FROM wrap_runs WHERE run_id = ?1", params![run_id], |row| row.get(0))
}

/// Returns the name of the server whose calls a process's are; `None` for a process that wraps none.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn name_of_boot(db: &Db, boot_id: &str) -> Result<Option<String>, Fault> {
    db.query_opt("SELECT name FROM wrap_runs WHERE boot_id = ?1", params![boot_id], |row| row.get(0))
}

/// Returns the call that stored a run.
pub(super) fn call_of_run(db: &Db, run_id: &str) -> Result<Option<(i64, i64)>, Fault> {
    let sql = "SELECT run_no, sequence_no FROM wrap_runs WHERE run_id = ?1";
    db.query_opt(sql, params![run_id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the call that stored a row of `tool_pins`.
pub(super) fn call_of_pin(db: &Db, pin_no: i64) -> Result<Option<i64>, Fault> {
    db.query_opt("SELECT sequence_no FROM tool_pins WHERE pin_no = ?1", params![pin_no], |row| row.get(0))
}

/// Hands over each run's id with its call; the row is `None` if it is malformed. In the order of the numbers.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub(crate) fn each_run<E: From<Fault>>(
    db: &Db,
    mut take: impl FnMut(&str, Option<i64>, Option<RunRow>) -> Result<(), E>,
) -> Result<(), E> {
    db.walk(&format!("SELECT {RUN} FROM wrap_runs ORDER BY run_no"), &[], |row| {
        let (run_id, sequence_no) = (row.get::<String>(1).unwrap_or_default(), row.get(12).ok());
        take(&run_id, sequence_no, read_run(row).ok())?;
        Ok(true)
    })
}

/// Returns the number that the next row of `tool_pins` gets.
pub(super) fn next_pin_no(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT coalesce(max(pin_no), 0) + 1 FROM tool_pins", &[], |row| row.get(0))
}

/// Adds a row of `tool_pins`, with the list unless it is stored already.
pub(super) fn insert_pin(db: &Db, pin: &PinRow, list: Option<&str>) -> Result<(), Fault> {
    let sql =
        format!("INSERT OR FAIL INTO tool_pins ({PIN}, list) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    let values = params![
        pin.pin_no,
        pin.name,
        pin.event,
        pin.list_hash,
        pin.tools,
        pin.run_id,
        pin.recorded_at,
        pin.sequence_no,
        list,
    ];
    db.execute(&sql, values)
}

/// Returns whether a list was ever stored under that name.
pub(super) fn has_pin(db: &Db, name: &str) -> Result<bool, Fault> {
    let sql = "SELECT pin_no FROM tool_pins WHERE name = ?1 LIMIT 1";
    Ok(db.query_opt(sql, params![name], |row| row.get::<i64>(0))?.is_some())
}

/// Returns a stored list.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn list_of(db: &Db, name: &str, list_hash: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT list FROM tool_pins WHERE name = ?1 AND list_hash = ?2 AND list IS NOT NULL";
    db.query_opt(sql, params![name, list_hash], |row| row.get(0))
}

/// Returns the lists that a pin is made of, each with its time: the first of its name, and those that were accepted, in this order.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn lists_of_pin(db: &Db, name: &str) -> Result<Vec<(String, String)>, Fault> {
    let sql = "SELECT l.list, p.recorded_at FROM tool_pins AS p JOIN tool_pins AS l ON l.name = p.name AND l.list_hash = p.list_hash \
               AND l.list IS NOT NULL WHERE p.name = ?1 AND p.event <> 'seen' ORDER BY p.pin_no";
    db.query_all(sql, params![name], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns how many lists of a name are stored.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn count_lists(db: &Db, name: &str) -> Result<i64, Fault> {
    let sql = "SELECT count(*) FROM tool_pins WHERE name = ?1 AND event <> 'accepted'";
    db.query_one(sql, params![name], |row| row.get(0))
}

/// Returns the code of a call that noted a list which is stored already. It writes nothing and is not a refusal.
pub(crate) fn noted_again() -> &'static str {
    PinsNoteError::ErrPinKnown { name: String::new(), list_hash: String::new() }.code()
}

/// Hands over number, time and message of each call after another one that noted a list which was stored already, in the order of
/// the numbers, until `take` returns `false`.
pub(super) fn each_note_of_known(
    db: &Db,
    after: i64,
    mut take: impl FnMut(i64, String, &str) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let sql = "SELECT sequence_no, entered_at, error_message FROM actions \
               WHERE sequence_no > ?1 AND tool = 'pins_note' AND error_code = ?2 ORDER BY sequence_no";
    db.walk(sql, params![after, noted_again()], |row| take(row.get(0)?, row.get(1)?, &row.get::<String>(2)?))
}

/// An event of a pin, without its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// `pinned`, `seen` or `accepted`.
    pub event: String,
    /// The hash of the list.
    pub list_hash: String,
    /// When it was recorded: UTC, RFC 3339 with milliseconds.
    pub recorded_at: String,
    /// The call that recorded it.
    pub sequence_no: i64,
}

/// Returns the events of a name, in the order of the numbers.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn events_of(db: &Db, name: &str) -> Result<Vec<Event>, Fault> {
    let sql =
        "SELECT event, list_hash, recorded_at, sequence_no FROM tool_pins WHERE name = ?1 ORDER BY pin_no";
    db.query_all(sql, params![name], |row| {
        Ok(Event {
            event: row.get(0)?,
            list_hash: row.get(1)?,
            recorded_at: row.get(2)?,
            sequence_no: row.get(3)?,
        })
    })
}

/// Returns the names that have a pin, in order.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn pinned_names(db: &Db) -> Result<Vec<String>, Fault> {
    db.query_all("SELECT name FROM tool_pins WHERE event = 'pinned' ORDER BY name", &[], |row| row.get(0))
}

/// Returns the names of the servers that were ever wrapped, in order.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn names(db: &Db) -> Result<Vec<String>, Fault> {
    db.query_all("SELECT DISTINCT name FROM wrap_runs ORDER BY name", &[], |row| row.get(0))
}

/// How many calls of a tool of another server ended in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EndedCalls {
    /// The tool, as the log has it.
    pub tool: String,
    /// How the calls ended.
    pub outcome: String,
    /// Their error code.
    pub code: Option<String>,
    /// They had not ended at the given place of the log.
    pub later: bool,
    /// How many.
    pub count: i64,
}

/// Counts the calls of the runs whose work is a session's, by tool and outcome, operations among them: first those that had ended when
/// the log's last exit had that number, then the others, each in the order of the tools.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn calls_of_session(db: &Db, session_id: &str, last_exit: i64) -> Result<Vec<EndedCalls>, Fault> {
    let sql = "SELECT a.tool, a.outcome, a.error_code, \
               CASE WHEN a.exit_no <= ?2 THEN 0 ELSE 1 END, count(*) FROM wrap_runs AS r \
               JOIN actions AS a ON a.boot_id = r.boot_id WHERE r.session_id = ?1 GROUP BY 4, 1, 2, 3 ORDER BY 4, 1, 2, 3";
    db.query_all(sql, params![session_id, last_exit], |row| {
        let later = row.get::<i64>(3)? == 1;
        Ok(EndedCalls {
            tool: row.get(0)?,
            outcome: row.get(1)?,
            code: row.get(2)?,
            later,
            count: row.get(4)?,
        })
    })
}

/// Counts the calls to other servers that runs of other sessions, or of none, made from a time on, as far as they had ended when the
/// log's last exit had that number.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn calls_of_others(db: &Db, session_id: &str, since: &str, last_exit: i64) -> Result<i64, Fault> {
    let sql = "SELECT a.tool, count(*) FROM wrap_runs AS r JOIN actions AS a ON a.boot_id = r.boot_id \
               WHERE (r.session_id IS NULL OR r.session_id <> ?1) AND a.entered_at >= ?2 AND a.exit_no <= ?3 GROUP BY a.tool";
    let mut all = 0;
    db.query_each(sql, params![session_id, since, last_exit], |row| {
        if row.get::<String>(0)?.contains('/') {
            all += row.get::<i64>(1)?;
        }
        Ok(true)
    })?;
    Ok(all)
}

/// Hands over each number of `tool_pins` with its call; the row is `None` if it is malformed. In the order of the numbers.
pub(super) fn each_pin<E: From<Fault>>(
    db: &Db,
    mut take: impl FnMut(i64, Option<i64>, Option<PinRow>) -> Result<(), E>,
) -> Result<(), E> {
    db.walk(&format!("SELECT {PIN} FROM tool_pins ORDER BY pin_no"), &[], |row| {
        let (pin_no, sequence_no) = (row.get(0).map_err(Fault::from)?, row.get(7).ok());
        take(pin_no, sequence_no, read_pin(row).ok())?;
        Ok(true)
    })
}

/// Hands over each well-formed row of `tool_pins` with its list, in the order of the numbers. A list that cannot be read is empty.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub(crate) fn each_list<E: From<Fault>>(
    db: &Db,
    mut take: impl FnMut(&PinRow, Option<&str>) -> Result<(), E>,
) -> Result<(), E> {
    db.walk(&format!("SELECT {PIN}, list FROM tool_pins ORDER BY pin_no"), &[], |row| {
        if let Ok(pin) = read_pin(row) {
            let list = row.get::<Option<String>>(8).unwrap_or_else(|_| Some(String::new()));
            take(&pin, list.as_deref())?;
        }
        Ok(true)
    })
}
