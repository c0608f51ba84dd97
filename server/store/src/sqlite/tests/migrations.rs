//! The runner (store#migrations).

use super::*;
use crate::sqlite::open::migrate::*;

const fn migration(file: &'static str, sql: &'static str) -> Migration {
    Migration { file, sql }
}

fn memory() -> Connection {
    Connection::open_in_memory().unwrap()
}

fn run(conn: &Connection, list: &[Migration]) -> Result<usize, OpenError> {
    migrate(conn, list, Path::new("any.db"))
}

#[test]
fn names_without_a_number_are_no_migrations() {
    for (file, number) in [
        ("001_init.sql", Some(1)),
        ("120_late.sql", Some(120)),
        ("schema.sql", None),
        ("x01_init.sql", None),
        ("_init.sql", None),
        ("+1_init.sql", None),
        ("001_init.txt", None),
        ("99999999999_far.sql", None),
    ] {
        assert_eq!(number_of(file), number, "{file}");
    }
}

#[test]
fn comments_are_stripped_but_not_inside_quotes() {
    for (sql, stripped) in [
        ("a -- b\nc", "a  \nc"),
        ("a /* b\n */ c", "a   c"),
        ("'--' \"/*\" `--` [--] x", "'--' \"/*\" `--` [--] x"),
        ("'it''s -- fine'", "'it''s -- fine'"),
        ("a -- b", "a  "),
        ("a /* b", "a  "),
        ("/*/ x */ y", "  y"),
        ("é -- ü\nö", "é  \nö"),
        ("'open", "'open"),
    ] {
        assert_eq!(strip_sql_comments(sql), stripped, "{sql}");
    }
    for (sql, empty) in [("", true), (" -- only\n/* comments */ ;\n", true), ("-- x\nSELECT 1", false)] {
        assert_eq!(is_effectively_empty(sql), empty, "{sql}");
    }
}

#[test]
fn a_file_at_6_gets_the_rest_in_order() {
    let list = [
        migration("008_b.sql", "INSERT INTO t VALUES ('8')"),
        migration("007_a.sql", "CREATE TABLE t (n)"),
        migration("006_never.sql", "broken"),
        migration("009_c.sql", "INSERT INTO t SELECT n || '9' FROM t"),
    ];
    let conn = memory();
    conn.execute_batch("PRAGMA user_version = 6").unwrap();
    assert_eq!(run(&conn, &list), Ok(3));
    assert_eq!(number(&conn, "PRAGMA user_version"), 9);
    assert_eq!(number(&conn, "SELECT count(*) FROM t WHERE n IN ('8', '89')"), 2);
    assert_eq!(run(&conn, &list), Ok(0));
}

#[test]
fn a_failing_migration_is_undone_and_named() {
    let list = [
        migration("001_a.sql", "CREATE TABLE a (n)"),
        migration("002_b.sql", "CREATE TABLE b (n); INSERT INTO missing VALUES (1)"),
        migration("003_c.sql", "CREATE TABLE c (n)"),
    ];
    let conn = memory();
    let error = run(&conn, &list).unwrap_err();
    assert_eq!(error.to_string(), "migration 002_b failed: no such table: missing");
    assert_eq!(number(&conn, "PRAGMA user_version"), 1);
    assert!(conn.is_autocommit());
    assert_eq!(number(&conn, "SELECT count(*) FROM sqlite_schema"), 1);
}

#[test]
fn a_comment_advances_the_version_and_two_of_one_number_do_not_run() {
    let conn = memory();
    assert_eq!(run(&conn, &[migration("001_init.sql", "-- nothing yet\n")]), Ok(1));
    assert_eq!(number(&conn, "PRAGMA user_version"), 1);

    let twice = [migration("002_b.sql", "CREATE TABLE b (n)"), migration("002_c.sql", "CREATE TABLE c (n)")];
    let error = run(&conn, &twice).unwrap_err();
    assert_eq!(error.to_string(), "migration 002_c failed: it has the same number as 002_b");
    assert_eq!(number(&conn, "SELECT count(*) FROM sqlite_schema"), 0);
}

#[test]
fn a_migration_cannot_take_over_the_transaction_or_the_version() {
    for (sql, reason) in [
        ("CREATE TABLE t (n); COMMIT;", "it ends the runner's transaction; leave out BEGIN and COMMIT"),
        ("PRAGMA user_version = 7;", "it sets user_version, which is the runner's; leave that out"),
        ("BEGIN; CREATE TABLE t (n);", "cannot start a transaction within a transaction"),
    ] {
        let conn = memory();
        let error = run(&conn, &[migration("001_bad.sql", sql)]).unwrap_err();
        assert_eq!(error.to_string(), format!("migration 001_bad failed: {reason}"), "{sql}");
        assert!(conn.is_autocommit());
        assert_eq!(number(&conn, "PRAGMA user_version"), 0);
    }
}

#[test]
fn foreign_keys_hold_during_migrations() {
    const BAD: &[Migration] = &[migration(
        "001_bad.sql",
        "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a (id)); INSERT INTO b VALUES (7)",
    )];
    let place = Place::new();
    let error = init_db(&StoreOptions { migrations: BAD, ..place.options() }).unwrap_err();
    assert_eq!(error.to_string(), "migration 001_bad failed: FOREIGN KEY constraint failed");
}
