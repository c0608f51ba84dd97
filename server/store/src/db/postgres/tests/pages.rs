//! What a reader of many rows costs the server.

use super::session;
use crate::log::verify::Calls;
use crate::{Db, params};

/// How many calls the log has.
const CALLS: i64 = 20_000;

#[test]
fn looking_each_call_up_reads_the_log_about_once() {
    let Some(db) = session().map(Db::from) else { return };
    for statement in [
        "CREATE TEMP TABLE enters (sequence_no bigint PRIMARY KEY, tool text, boot_id text, entered_at text)",
        "CREATE TEMP TABLE exits (sequence_no bigint PRIMARY KEY, exit_no bigint, outcome text, subject text, result_hash text, exited_at text)",
    ] {
        db.execute(statement, &[]).unwrap();
    }
    let enters = "INSERT INTO enters SELECT n, 'task_get', 'boot', 'then' FROM generate_series(1, ?1) AS n";
    db.execute(enters, params![CALLS]).unwrap();
    let exits = "INSERT INTO exits SELECT n, n, 'ok', NULL, 'hash', 'later' FROM generate_series(1, ?1) AS n";
    db.execute(exits, params![CALLS]).unwrap();
    for table in ["ANALYZE enters", "ANALYZE exits"] {
        db.execute(table, &[]).unwrap();
    }
    let before = rows_read(&db);
    let mut calls = Calls::default();
    for n in 1..=CALLS {
        assert_eq!(calls.exit_no_of(&db, n), Ok(Some(n)));
    }
    let read = rows_read(&db) - before;
    assert!((CALLS..=3 * CALLS).contains(&read), "{read} rows of exits were read for {CALLS} calls");
}

/// How many rows of `exits` this session's statements have read.
fn rows_read(db: &Db) -> i64 {
    db.query_one("SELECT 1::bigint FROM pg_stat_force_next_flush()", &[], |row| row.get::<i64>(0)).unwrap();
    let sql = "SELECT CAST(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS bigint) FROM pg_stat_all_tables \
               WHERE relid = CAST('exits' AS regclass)";
    db.query_one(sql, &[], |row| row.get::<i64>(0)).unwrap()
}
