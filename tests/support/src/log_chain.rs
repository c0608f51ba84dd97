//! The audit log's own chain, recomputed from the rows as stored (chain#audit-row): a check that is independent of
//! the server's code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use serde_json::Value;

use crate::sql::Connection;

/// `prev_hash` of the first closed row.
const ORIGIN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The result for a sound log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogCount {
    /// All rows.
    pub rows: i64,
    /// Those that are closed; the others are outside the chain.
    pub closed: i64,
}

/// Checks that `sequence_no` and `exit_no` have no gap, that each closed row's hash is that of its columns
/// and follows the row closed before, and that the head says where the log ends. Reads one snapshot, so that
/// it may run beside writers.
pub fn assert_log_is_sound(conn: &Connection) -> LogCount {
    conn.begin_snapshot();
    let count = checked(conn);
    conn.execute_batch("COMMIT").expect("the transaction is open");
    count
}

fn checked(conn: &Connection) -> LogCount {
    let one = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    let rows = one("SELECT count(*) FROM actions");
    assert_eq!(one("SELECT coalesce(max(sequence_no), 0) FROM actions"), rows, "a gap in sequence_no");

    let sql = "SELECT * FROM actions WHERE outcome <> 'running' ORDER BY exit_no";
    let mut closed = 0;
    let mut prev_hash = ORIGIN.to_owned();
    for row in conn.prepare(sql).and_then(|mut all| all.query([])).expect("the log can be read") {
        closed += 1;
        let mut object = row.object();
        let row_hash = object.remove("row_hash").expect("the column");
        assert_eq!(object["exit_no"], closed, "a gap in exit_no");
        assert_eq!(object["prev_hash"], *prev_hash, "the chain forks at exit_no {closed}");
        let canonical = canonical_json(&Value::Object(object), NumberRule::Wire).expect("canonical");
        prev_hash = sha256_hex(canonical.as_bytes());
        assert_eq!(row_hash, *prev_hash, "the hash of exit_no {closed}");
    }

    let head = conn
        .query_row("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })
        .expect("the head");
    assert_eq!(head, (rows, closed, prev_hash), "actions_head");
    LogCount { rows, closed }
}

/// Checks that tasks and the calls that created them match one to one: no half of a call is stored without the
/// other. Returns how many there are. For databases in which tasks are only created.
pub fn assert_tasks_match_log(conn: &Connection) -> i64 {
    let one = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    let tasks = one("SELECT count(*) FROM tasks");
    assert_eq!(
        one("SELECT count(*) FROM actions WHERE tool = 'task_create' AND outcome = 'ok'"),
        tasks,
        "closed calls and tasks"
    );
    let paired = "SELECT count(DISTINCT sequence_no) FROM tasks JOIN actions USING (sequence_no) \
                  WHERE tool = 'task_create' AND outcome = 'ok'";
    assert_eq!(one(paired), tasks, "each task names the call that created it");
    tasks
}
