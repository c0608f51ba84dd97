//! Statements against a server of PostgreSQL.

use std::time::Duration;

use super::super::{CommitState, Limit, PgCell, PgError, Session, SessionOptions, TransactionStatus};
use super::{parse, session};
use crate::{Value, params};
use colibri_test_support::postgres::{Cluster, Role};

fn integers(session: &mut Session, sql: &str, params: &[Value<'_>]) -> Vec<i64> {
    let rows = session.query(sql, params, Limit::ALL).unwrap();
    let integer = |cell| if let PgCell::Integer(number) = cell { number } else { panic!("{cell:?}") };
    rows.iter().map(|row| integer(row.cell(0).unwrap())).collect()
}

#[test]
fn values_go_there_and_back() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (i bigint, r double precision, x text, b bytea)").unwrap();
    let insert = "INSERT INTO t VALUES (?1, ?2, ?3, ?4)";
    session.queue(insert, params![i64::MIN, -0.5, "ä ?1 '", "zero\0byte"]).unwrap();
    let nothing = None::<i64>;
    session.queue(insert, params![nothing, None::<f64>, None::<String>, Value::Blob(b"\xff\0")]).unwrap();
    let rows = session.query("SELECT i, r, x, b FROM t ORDER BY i NULLS LAST", &[], Limit::ALL).unwrap();
    let cells =
        |at: usize| (0..4).map(|column| rows.row(at).unwrap().cell(column).unwrap()).collect::<Vec<_>>();
    assert_eq!(
        cells(0),
        [
            PgCell::Integer(i64::MIN),
            PgCell::Real(-0.5),
            PgCell::Text("ä ?1 '".as_bytes()),
            PgCell::Bytes(b"zero\0byte")
        ]
    );
    assert_eq!(cells(1), [PgCell::Null, PgCell::Null, PgCell::Null, PgCell::Bytes(b"\xff\0")]);
    assert!(rows.row(2).is_none() && rows.row(0).unwrap().cell(4).is_err());
    let changed = session.query("UPDATE t SET r = ?1", params![1.5], Limit::ALL).unwrap();
    assert_eq!((changed.changed, changed.len()), (2, 0));
    let sql = "SELECT 1::smallint, 2::integer, true, false, 'n'::name, 'c'::\"char\", 1.5::real, 7::oid, pg_sleep(0), 1::numeric";
    let rows = session.query(sql, &[], Limit::ONE).unwrap();
    let row = rows.row(0).unwrap();
    let read: Vec<_> = (0..9).map(|at| row.cell(at).unwrap()).collect();
    let [one, two, yes, no] = [1, 2, 1, 0].map(PgCell::Integer);
    assert_eq!(read[..4], [one, two, yes, no]);
    assert_eq!(
        read[4..],
        [PgCell::Text(b"n"), PgCell::Text(b"c"), PgCell::Real(1.5), PgCell::Integer(7), PgCell::Null]
    );
    assert!(row.cell(9).is_err(), "numeric is no type that Colibri stores");
}

#[test]
fn a_flight_takes_one_round_trip_whatever_is_in_it() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (n bigint PRIMARY KEY)").unwrap();
    let before = session.counters();
    session.queue("BEGIN", &[]).unwrap();
    for n in 0..500_i64 {
        session.queue("INSERT INTO t VALUES (?)", params![n]).unwrap();
    }
    session.queue_commit().unwrap();
    let committed = session.boundary();
    session.queue("BEGIN", &[]).unwrap();
    let mark = session.boundary();
    session.send().unwrap();
    assert_eq!(session.wait(committed), Ok(TransactionStatus::Idle));
    assert_eq!(session.wait(mark), Ok(TransactionStatus::Open));
    let after = session.counters();
    assert_eq!((after.round_trips - before.round_trips, after.statements - before.statements), (1, 503));
    assert_eq!(integers(&mut session, "SELECT count(*) FROM t", &[]), [500]);
    assert_eq!(session.counters().round_trips - after.round_trips, 1);
    let again = session.wait(mark).unwrap_err();
    assert_eq!(again, PgError::Usage("a boundary was waited for twice"));
}

#[test]
fn a_failure_shows_at_its_boundary_and_voids_what_follows_up_to_it() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (n bigint PRIMARY KEY, x text CHECK (x <> ''))").unwrap();
    let insert = "INSERT INTO t VALUES (?1, ?2)";
    session.queue("BEGIN", &[]).unwrap();
    session.queue(insert, params![1_i64, "a"]).unwrap();
    session.queue(insert, params![1_i64, "b"]).unwrap();
    session.queue(insert, params![2_i64, "c"]).unwrap();
    let error = session.query("SELECT n FROM t", &[], Limit::ALL).unwrap_err();
    let server = error.server().unwrap();
    assert_eq!((server.code.as_str(), server.severity.as_str()), ("23505", "ERROR"));
    assert_eq!((server.table.as_deref(), server.constraint.as_deref()), (Some("t"), Some("t_pkey")));
    assert_eq!(server.detail.as_deref(), Some("Key (n)=(1) already exists."));
    assert_eq!(session.status(), TransactionStatus::Failed);
    // The COMMIT of a failed transaction is a rollback, which the server does not call an error.
    session.queue_commit().unwrap();
    let end = session.boundary();
    session.send().unwrap();
    assert_eq!(session.wait(end).unwrap_err().sqlstate(), Some("25P02"));
    assert_eq!(session.status(), TransactionStatus::Idle);
    assert_eq!(integers(&mut session, "SELECT n FROM t", &[]), [0_i64; 0]);

    session.queue(insert, params![3_i64, ""]).unwrap();
    let first = session.boundary();
    session.queue(insert, params![4_i64, "d"]).unwrap();
    let second = session.boundary();
    session.send().unwrap();
    assert_eq!(session.wait(second), Ok(TransactionStatus::Idle));
    assert_eq!(session.wait(first).unwrap_err().sqlstate(), Some("23514"));
    assert_eq!(integers(&mut session, "SELECT n FROM t", &[]), [4]);
}

#[test]
fn a_statement_counts_as_prepared_only_after_the_server_has_parsed_it() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (n bigint)").unwrap();
    // The first statement fails, so that the server never sees the second one's Parse; the third is the second again.
    session.queue("SELECT 1/0", &[]).unwrap();
    session.queue("INSERT INTO t VALUES (7)", &[]).unwrap();
    let first = session.boundary();
    session.queue("INSERT INTO t VALUES (7)", &[]).unwrap();
    let second = session.boundary();
    session.send().unwrap();
    assert_eq!(session.wait(first).unwrap_err().sqlstate(), Some("22012"));
    assert_eq!(session.wait(second), Ok(TransactionStatus::Idle));
    session.queue("INSERT INTO t VALUES (7)", &[]).unwrap();
    assert_eq!(integers(&mut session, "SELECT count(*) FROM t", &[]), [2]);
    // A statement that cannot be parsed fails the second time, too.
    for _ in 0..2 {
        assert_eq!(
            session.query("SELECT nothing FROM t", &[], Limit::ALL).unwrap_err().sqlstate(),
            Some("42703")
        );
    }
    let prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'";
    assert_eq!(integers(&mut session, prepared, &[]), [1]);
}

#[test]
fn the_cache_of_statements_is_bounded_and_follows_kinds_and_changed_tables() {
    let Some(mut session) = session() else { return };
    for n in 0..700 {
        session.queue(&format!("SELECT {n}"), &[]).unwrap();
    }
    let held = integers(&mut session, "SELECT count(*) FROM pg_prepared_statements", &[]);
    assert!(held[0] <= 513, "{held:?}");
    session.simple("CREATE TEMP TABLE t (n bigint, x text)").unwrap();
    for value in [Value::Integer(5), Value::Null, Value::Text("5")] {
        let sql = "INSERT INTO t (x) VALUES (CAST(?1 AS text))";
        session.query(sql, &[value], Limit::ALL).unwrap();
    }
    assert_eq!(integers(&mut session, "SELECT count(x) FROM t", &[]), [2]);
    assert_eq!(session.query("SELECT * FROM t", &[], Limit::ALL).unwrap().len(), 3);
    session.simple("ALTER TABLE t ADD COLUMN y text").unwrap();
    assert_eq!(session.query("SELECT * FROM t", &[], Limit::ALL).unwrap_err().sqlstate(), Some("0A000"));
    let rows = session.query("SELECT * FROM t", &[], Limit::ALL).unwrap();
    assert_eq!(rows.row(0).unwrap().cell(2), Ok(PgCell::Null));
}

/// Walks over a portal; returns its integers, and how many parts there were.
fn walk(session: &mut Session, sql: &str, params: &[Value<'_>]) -> (Vec<i64>, usize) {
    let (mut portal, mut rows) = session.open_portal(sql, params).unwrap();
    let mut all = Vec::new();
    for parts in 1.. {
        all.extend(rows.iter().map(|row| if let Ok(PgCell::Integer(n)) = row.cell(0) { n } else { -1 }));
        if !rows.suspended() {
            session.close_portal(portal);
            return (all, parts);
        }
        // Statements between two parts, and walks inside of walks.
        assert_eq!(integers(session, "SELECT ?1::bigint", params![2_i64]), [2]);
        if all.len() == 8 && !params.is_empty() {
            let inner = walk(session, "SELECT n::bigint FROM generate_series(1, 20) AS n", &[]);
            assert_eq!(inner.0, (1..=20).collect::<Vec<_>>());
        }
        rows = session.fetch(&mut portal).unwrap();
    }
    unreachable!()
}

#[test]
fn a_portal_hands_out_rows_in_parts_while_other_statements_run() {
    let Some(mut session) = session() else { return };
    let sql = "SELECT n::bigint, repeat('x', ?2::integer) FROM generate_series(1, ?1) AS n";
    for begins in [true, false] {
        if begins {
            session.queue("BEGIN", &[]).unwrap();
        }
        let (rows, parts) = walk(&mut session, sql, params![10_000_i64, 10_i64]);
        assert_eq!(rows, (1..=10_000).collect::<Vec<_>>());
        assert!((10..=14).contains(&parts), "{parts} parts");
        // Long rows come in small parts.
        let (rows, parts) = walk(&mut session, sql, params![100_i64, 500_000_i64]);
        assert_eq!(rows.len(), 100);
        assert!(parts > 40, "{parts} parts");
        // A short result takes one round trip, transaction or not.
        let before = session.counters().round_trips;
        assert_eq!(walk(&mut session, sql, params![7_i64, 1_i64]).1, 1);
        assert_eq!(session.counters().round_trips - before, 1);
        let status = if begins { TransactionStatus::Open } else { TransactionStatus::Idle };
        session.query("SELECT 1", &[], Limit::ONE).unwrap();
        assert_eq!(session.status(), status);
        if begins {
            session.queue("ROLLBACK", &[]).unwrap();
        }
    }
}

#[test]
fn one_row_is_one_row_and_a_result_that_is_too_large_leaves_the_connection_whole() {
    let Some(mut session) = session() else { return };
    let rows = session.query("SELECT generate_series(1, 1000000)::bigint", &[], Limit::ONE).unwrap();
    assert_eq!((rows.len(), rows.suspended()), (1, true));
    let limit = Limit { rows: 0, bytes: 1 << 20 };
    let error =
        session.query("SELECT repeat('x', 1000) FROM generate_series(1, 20000)", &[], limit).unwrap_err();
    assert!(matches!(error, PgError::TooLarge(_)), "{error}");
    assert_eq!(integers(&mut session, "SELECT 1", &[]), [1]);
}

#[test]
fn more_than_all_buffers_in_both_directions_is_no_deadlock() {
    let Some(mut session) = session() else { return };
    session.queue("BEGIN", &[]).unwrap();
    let text = "x".repeat(300_000);
    for _ in 0..60 {
        // The server answers with as much as it gets, and stops reading while its client does not take it.
        session.queue("SELECT ?1::text, ?1::text", params![text]).unwrap();
    }
    assert_eq!(integers(&mut session, "SELECT 1", &[]), [1]);
}

#[test]
fn a_statement_that_takes_too_long_fails_and_a_silent_server_loses_the_connection() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = parse(&cluster.url(Role::Superuser, "postgres"));
    let options = SessionOptions { statement: Some(Duration::from_millis(500)), ..SessionOptions::default() };
    let mut session = Session::connect(&url, &options).unwrap();
    assert_eq!(session.query("SELECT pg_sleep(60)", &[], Limit::ONE).unwrap_err().sqlstate(), Some("57014"));
    assert_eq!(integers(&mut session, "SELECT 1", &[]), [1]);
}

#[test]
fn a_killed_connection_says_whether_a_commit_was_on_its_way() {
    let (Some(mut one), Some(mut other)) = (session(), session()) else { return };
    let kill = |other: &mut Session, pid: i32| {
        other
            .query("SELECT pg_terminate_backend(?1::integer, 10000)", params![i64::from(pid)], Limit::ONE)
            .unwrap();
    };
    kill(&mut other, one.backend_pid());
    let error = one.query("SELECT 1", &[], Limit::ONE).unwrap_err();
    let PgError::Lost(lost) = &error else { panic!("{error:?}") };
    assert_eq!(lost.commit, CommitState::NotSent);
    assert!(lost.reason.contains("57P01"), "{lost}");
    assert_eq!(one.queue("SELECT 1", &[]), Err(error));

    // Over TCP, a first write after the end still succeeds.
    let url = Cluster::shared().unwrap().url(Role::Superuser, "postgres");
    let mut one = Session::connect(&parse(&url), &SessionOptions::default()).unwrap();
    kill(&mut other, one.backend_pid());
    one.queue("BEGIN", &[]).unwrap();
    one.queue_commit().unwrap();
    let end = one.boundary();
    let lost = one.send().and_then(|()| one.wait(end)).unwrap_err();
    assert!(lost.is_lost(), "{lost:?}");
    assert_eq!(one.lost().unwrap().commit, CommitState::Unknown);
}

#[test]
fn neutral_statements_run_as_they_are() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (n bigint PRIMARY KEY, x text); CREATE INDEX i_t ON t (x)").unwrap();
    session.queue("INSERT OR FAIL INTO t VALUES (?1, '?1')", params![4_i64]).unwrap();
    let sql = "SELECT n FROM t INDEXED BY i_t WHERE x IS NOT DISTINCT FROM ?1 AND n < ?2";
    assert_eq!(integers(&mut session, sql, params!["?1", 5_i64]), [4]);
    let error = session.queue("SELECT 'a\0'", &[]).unwrap_err();
    assert!(matches!(error, PgError::Usage(_)), "{error:?}");
    assert_eq!(integers(&mut session, sql, params!["?1", 5_i64]), [4]);
}

#[test]
fn a_script_is_one_transaction_and_fails_as_a_whole() {
    let Some(mut session) = session() else { return };
    let error =
        session.simple("CREATE TEMP TABLE t (n bigint); INSERT INTO t VALUES (1); SELECT 1/0").unwrap_err();
    assert_eq!(error.sqlstate(), Some("22012"));
    assert_eq!(session.query("SELECT n FROM t", &[], Limit::ALL).unwrap_err().sqlstate(), Some("42P01"));
    session.queue("SELECT 1/0", &[]).unwrap();
    assert_eq!(session.simple("SELECT 1").unwrap_err().sqlstate(), Some("22012"));
    session.simple("DO $$ BEGIN RAISE NOTICE 'many words'; END $$").unwrap();
    assert!(session.parameter("server_version").is_some());
}

#[test]
fn a_commit_that_did_not_reach_its_standby_is_not_acknowledged() {
    let Some(cluster) = Cluster::private("") else { return };
    cluster.configure("synchronous_standby_names = 'absent'");
    cluster.reload();
    let url = parse(&cluster.socket_url(Role::Superuser, "postgres"));
    let connect = || {
        Session::connect(&url, &SessionOptions { settings: Vec::new(), ..SessionOptions::default() }).unwrap()
    };
    let (mut one, mut other) = (connect(), connect());
    while one.query("SHOW synchronous_standby_names", &[], Limit::ONE).unwrap().row(0).unwrap().cell(0)
        != Ok(PgCell::Text(b"absent"))
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    for explicit in [false, true] {
        if explicit {
            one.queue("BEGIN", &[]).unwrap();
        }
        one.queue("SELECT pg_logical_emit_message(true, 'test', '')", &[]).unwrap();
        if explicit {
            one.queue_commit().unwrap();
        }
        let mark = one.boundary();
        one.send().unwrap();
        let cancel =
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = ?1";
        while other.query(cancel, params![i64::from(one.backend_pid())], Limit::ONE).unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let warning = one.wait(mark).unwrap_err();
        assert_eq!(warning.server().map(|server| server.severity.as_str()), Some("WARNING"), "{warning:?}");
        assert_eq!(one.status(), TransactionStatus::Idle);
    }
    // Without a transaction that writes, nothing waits, and other warnings change nothing.
    one.simple("DO $$ BEGIN RAISE WARNING 'words'; END $$").unwrap();
    one.query("SELECT 1", &[], Limit::ONE).unwrap();
}
