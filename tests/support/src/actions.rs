//! The audit log as the tests read it.

#![allow(clippy::expect_used)]

use std::time::{Duration, Instant};

use crate::client::{PATIENCE, Server};
use crate::sql::Connection;

/// A row of `actions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Column `sequence_no`.
    pub sequence_no: i64,
    /// Column `boot_id`.
    pub boot_id: String,
    /// Column `tool`.
    pub tool: String,
    /// Column `args_hash`.
    pub args_hash: String,
    /// Column `trace_context`.
    pub trace_context: Option<String>,
    /// Column `outcome`.
    pub outcome: String,
    /// Column `error_code`.
    pub error_code: Option<String>,
    /// Column `error_message`.
    pub error_message: Option<String>,
    /// Column `result_hash`.
    pub result_hash: Option<String>,
    /// Column `duration_ms`.
    pub duration_ms: Option<i64>,
    /// Column `exit_no`.
    pub exit_no: Option<i64>,
}

impl Action {
    /// Outcome and code, the form most cases speak of.
    pub fn end(&self) -> (&str, Option<&str>) {
        (&self.outcome, self.error_code.as_deref())
    }
}

/// All rows by number.
pub fn actions(conn: &Connection) -> Vec<Action> {
    let mut statement = conn
        .prepare(
            "SELECT sequence_no, boot_id, tool, args_hash, trace_context, outcome, error_code, error_message, \
             result_hash, duration_ms, exit_no FROM actions ORDER BY sequence_no",
        )
        .expect("the table is there");
    let rows = statement.query_map([], |row| {
        Ok(Action {
            sequence_no: row.get(0)?,
            boot_id: row.get(1)?,
            tool: row.get(2)?,
            args_hash: row.get(3)?,
            trace_context: row.get(4)?,
            outcome: row.get(5)?,
            error_code: row.get(6)?,
            error_message: row.get(7)?,
            result_hash: row.get(8)?,
            duration_ms: row.get(9)?,
            exit_no: row.get(10)?,
        })
    });
    rows.expect("the query runs").collect::<Result<_, _>>().expect("rows of that form")
}

/// The rows of the calls that clients have made, by number: without those by which the server stores who calls.
pub fn client_calls(conn: &Connection) -> Vec<Action> {
    let mut rows = actions(conn);
    rows.retain(|row| row.tool != "caller_begin");
    rows
}

/// The row of the only call of that tool.
pub fn action_of(conn: &Connection, tool: &str) -> Action {
    let mut rows = actions(conn);
    rows.retain(|row| row.tool == tool);
    assert_eq!(rows.len(), 1, "calls of {tool}: {rows:?}");
    rows.remove(0)
}

/// Waits until a running server's log has an open row of that tool: its handler is at work. The server's
/// second phase must be over, or the database would be created here.
pub fn await_running(server: &Server, tool: &str) -> Action {
    let conn = server.sql();
    let began = Instant::now();
    loop {
        let running = actions(&conn).into_iter().find(|row| row.tool == tool && row.outcome == "running");
        match running {
            Some(row) => return row,
            None => assert!(began.elapsed() < PATIENCE, "{tool} never ran: {}", server.stderr()),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
