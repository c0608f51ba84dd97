//! The handle that handlers get, on PostgreSQL.

use colibri_runtime::handler::Fault;

use super::session;
use crate::{Db, params};

fn db() -> Option<Db> {
    let db = Db::from(session()?);
    db.execute("CREATE TEMP TABLE t (n bigint PRIMARY KEY, name text NOT NULL UNIQUE, note bytea)", &[])
        .unwrap();
    // Without a transaction, all up to an answer stays or goes together.
    db.query_one("SELECT 1::bigint", &[], |row| row.get::<i64>(0)).unwrap();
    Some(db)
}

#[test]
fn statements_are_postponed_and_rows_are_read_as_on_the_other_engine() {
    let Some(db) = db() else { return };
    for n in 1..=3_i64 {
        let name = format!("name {n}");
        db.execute("INSERT INTO t VALUES (?1, ?2, ?3)", params![n, name, "a\0b"]).unwrap();
    }
    assert_eq!(db.changed("UPDATE t SET note = ?1 WHERE n > ?2", params![None::<String>, 1_i64]), Ok(2));
    let all = db.query_all("SELECT n, name, note FROM t ORDER BY n", &[], |row| {
        Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<Option<String>>(2)?))
    });
    let row = |n, note: Option<&str>| (n, format!("name {n}"), note.map(str::to_owned));
    assert_eq!(all, Ok(vec![row(1, Some("a\0b")), row(2, None), row(3, None)]));
    let first = db.query_one("SELECT n FROM t ORDER BY n", &[], |row| row.get::<u8>(0));
    assert_eq!(first, Ok(1));
    let none = db.query_opt("SELECT n FROM t WHERE n = ?1", params![9_i64], |row| row.get::<i64>(0));
    assert_eq!(none, Ok(None));
    let wrong = db.query_one("SELECT name FROM t", &[], |row| row.get::<i64>(0));
    assert_eq!(wrong, Err(Fault::Storage("a stored value has an unexpected type".to_owned())));
}

#[test]
fn a_walk_runs_other_statements_meanwhile_and_ends_when_it_is_told() {
    let Some(db) = db() else { return };
    db.execute("INSERT INTO t SELECT n, CAST(n AS text) FROM generate_series(1, 3000) AS n", &[]).unwrap();
    let mut sum = 0;
    db.query_each("SELECT n FROM t ORDER BY n", &[], |row| {
        let n = row.get::<i64>(0)?;
        let name = db.query_one("SELECT name FROM t WHERE n = ?1", params![n], |row| row.get::<String>(0));
        assert_eq!(name, Ok(n.to_string()));
        db.query_each("SELECT n FROM t ORDER BY n DESC", &[], |row| {
            sum += row.get::<i64>(0)?;
            Ok(false)
        })
        .unwrap();
        Ok(n < 100)
    })
    .unwrap();
    assert_eq!(sum, 100 * 3000);
    let failed = db.walk("SELECT n FROM t", &[], |_| Err::<bool, Fault>(Fault::Storage("enough".to_owned())));
    assert_eq!(failed, Err(Fault::Storage("enough".to_owned())));
    // A statement that cannot be sent, between two parts.
    let unsendable = db.walk("SELECT n FROM t", &[], |_| db.execute("SELECT '\0'", &[]).map(|()| true));
    assert_eq!(unsendable, Err(Fault::Storage("a statement's text has a zero byte".to_owned())));
    // No walk has left a transaction behind.
    let alone =
        "SELECT xact_start = statement_timestamp() FROM pg_stat_activity WHERE pid = pg_backend_pid()";
    db.query_one(alone, &[], |row| row.get::<bool>(0)).unwrap();
    db.execute("INSERT INTO t VALUES (0, 'last')", &[]).unwrap();
    assert_eq!(db.query_one("SELECT count(*) FROM t", &[], |row| row.get(0)), Ok(3001_i64));
}

#[test]
fn a_postponed_failure_shows_at_the_next_answer_in_the_words_of_the_other_engine() {
    let Some(db) = db() else { return };
    for (insert, words) in [
        ("INSERT INTO t VALUES (1, 'a'), (2, 'a')", "UNIQUE constraint failed: t.name"),
        ("INSERT INTO t VALUES (1, 'a'), (1, 'b')", "constraint failed"),
        ("INSERT INTO t VALUES (1, NULL)", "constraint failed"),
        ("INSERT INTO nothing VALUES (1)", "a table or column that must exist is missing"),
    ] {
        db.execute(insert, &[]).unwrap();
        let failed = db.query_one("SELECT 1", &[], |row| row.get::<i64>(0));
        assert_eq!(failed, Err(Fault::Storage(words.to_owned())), "{insert}");
        assert_eq!(db.query_one("SELECT count(*) FROM t", &[], |row| row.get(0)), Ok(0_i64));
    }
}

#[test]
fn a_row_that_a_query_has_written_is_not_undone_by_forgetting() {
    let Some(db) = db() else { return };
    let handle = db.postgres().unwrap();
    handle.end_call().unwrap();
    db.execute("INSERT INTO t VALUES (1, 'kept back')", &[]).unwrap();
    assert!(handle.undo_call());
    db.query_one("SELECT count(*) FROM t", &[], |row| row.get::<i64>(0)).unwrap();
    assert!(handle.undo_call());
    let insert = "INSERT INTO t VALUES (2, 'written') RETURNING n";
    assert_eq!(db.query_one(insert, &[], |row| row.get(0)), Ok(2_i64));
    assert!(!handle.undo_call());
}
