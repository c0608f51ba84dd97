//! A vote that is not committed has not happened.

use std::time::{Duration, Instant};

use colibri_test_support::actions::await_running;
use colibri_test_support::client::{PATIENCE, envelope};
use colibri_test_support::engine;
use colibri_test_support::sql::{Connection, Refused};
use colibri_test_support::sqlite_only;
use rusqlite::ErrorCode;
use serde_json::json;

use crate::consensus_restart::support::{
    accept, accepted, assert_verified, ballot, database, finality, finish, folder, level, node, numbers,
    propose, refusal,
};

/// A trigger that keeps the server busy for longer than any test while it inserts a step of a round.
const SLOW: &str = "CREATE VIEW endless AS \
     WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers; \
     CREATE TRIGGER slow AFTER INSERT ON mcp_consensus_transitions \
     BEGIN SELECT max(n) FROM (SELECT n FROM endless LIMIT 1000000000000); END";

fn rows(conn: &Connection) -> Vec<Option<i64>> {
    ["votes", "transitions", "equivocations"]
        .iter()
        .flat_map(|table| numbers(conn, &format!("SELECT count(*) FROM mcp_consensus_{table}")))
        .collect()
}

/// Waits until a process holds the write lock.
fn await_writer(conn: &Connection) {
    let conn = conn.sqlite();
    conn.busy_timeout(Duration::ZERO).unwrap();
    let began = Instant::now();
    loop {
        match conn.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
            Err(rusqlite::Error::SqliteFailure(failure, _)) if failure.code == ErrorCode::DatabaseBusy => {
                return;
            }
            other => other.unwrap(),
        }
        assert!(began.elapsed() < PATIENCE, "nobody writes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_kill_before_the_commit_leaves_neither_vote_nor_step() {
    sqlite_only!(
        "an endless view keeps SQLite busy between two statements; the fault tests of PostgreSQL cut at each message"
    );
    let folder = folder();
    let mut server = node(&folder);
    assert_eq!(propose(&mut server, "aa"), "1");
    let before = finality(&mut server, "1");
    let conn = server.sql();
    let rows_before = rows(&conn);
    conn.execute_batch(SLOW).unwrap();
    server.send_call("consensus_vote", ballot("1", "aa", "ACCEPT"));
    await_running(&server, "consensus_vote");
    await_writer(&conn);
    // The vote is stored before its step, so the killed process has inserted it, unless it was stopped between the
    // two statements.
    std::thread::sleep(Duration::from_millis(50));
    server.kill();
    conn.sqlite().busy_timeout(PATIENCE).unwrap();
    conn.execute_batch("DROP TRIGGER slow; DROP VIEW endless").unwrap();
    assert_eq!(rows(&conn), rows_before);

    let mut server = node(&folder);
    assert_eq!(finality(&mut server, "1"), before);
    accepted(&mut server, "1", "aa");
    assert_eq!(level(&mut server, "1"), "HARD");
    finish(server);
    assert_verified(&folder);
}

/// Two ways for a commit to fail: the exit row is refused, or the transaction itself.
#[derive(Debug, Clone, Copy)]
enum Refusal {
    Exit,
    Commit,
}

const REFUSALS: [Refusal; 2] = [Refusal::Exit, Refusal::Commit];

fn refuse(conn: &Connection, how: Refusal) {
    match how {
        Refusal::Exit => conn.refuse(Refused::Exits("consensus_vote")),
        Refusal::Commit => conn.refuse(Refused::Commits("mcp_consensus_votes")),
    }
}

#[test]
fn a_vote_whose_commit_failed_has_not_happened() {
    for how in REFUSALS {
        let folder = folder();
        let mut server = node(&folder);
        assert_eq!(propose(&mut server, "aa"), "1");
        let before = finality(&mut server, "1");
        let conn = server.sql();
        let rows_before = rows(&conn);
        refuse(&conn, how);
        for root in ["aa", "cc", "aa"] {
            let refused = refusal(&accept(&mut server, "1", root));
            assert!(refused.starts_with("STORE_COMMIT_FAILED: "), "{how:?}: {refused}");
        }
        assert_eq!(rows(&conn), rows_before, "{how:?}");
        assert_eq!(finality(&mut server, "1"), before, "{how:?}");
        conn.allow();
        accepted(&mut server, "1", "aa");
        assert_eq!(level(&mut server, "1"), "HARD", "{how:?}: the vote for another root was forgotten");
        finish(server);
        assert_verified(&folder);
    }
}

/// Calls of one batch see the vote; when the batch's commit fails, later ones must not.
#[test]
fn a_batch_whose_commit_failed_leaves_nothing_in_memory() {
    let folder = folder();
    let mut server = node(&folder);
    assert_eq!(propose(&mut server, "aa"), "1");
    let before = finality(&mut server, "1");
    let conn = server.sql();
    refuse(&conn, Refusal::Commit);
    let call = |id: u64, tool: &str, arguments: serde_json::Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    };
    let asked = json!({ "round_id": "1" });
    // A refusal between vote and reading: the reading takes the round into memory again.
    let batch = [
        call(101, "consensus_vote", ballot("1", "aa", "ACCEPT")),
        call(102, "consensus_vote", ballot("1", "aa", "ACCEPT")),
        call(103, "consensus_finality", asked.clone()),
        call(104, "consensus_finality", asked),
    ];
    server.send_bytes(batch.concat().as_bytes());
    let replies: Vec<_> = batch.iter().map(|_| envelope(&server.receive())).collect();
    assert!(refusal(&replies[0]).starts_with("STORE_COMMIT_FAILED: "), "{}", replies[0]);
    assert_eq!(finality(&mut server, "1"), before);
    conn.allow();
    accepted(&mut server, "1", "cc");
    assert_eq!(level(&mut server, "1"), "QUORUM");
    accepted(&mut server, "1", "aa");
    assert_eq!(level(&mut server, "1"), "QUORUM", "proven before it accepted: excluded");
    finish(server);
    assert_verified(&folder);
    let times = numbers(
        &engine::open(database(&folder)),
        "SELECT timestamp_logical FROM mcp_consensus_votes ORDER BY seq",
    );
    assert!(times.is_sorted_by(|earlier, later| earlier < later), "{times:?}");
}
