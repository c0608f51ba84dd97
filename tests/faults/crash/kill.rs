//! Kill -9 under pipelined load: what was acknowledged is there, nothing is there by half, the next boot
//! closes the rows of the dead and leaves those of the living alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use colibri_test_support::actions::{actions, await_running};
use colibri_test_support::client::{Launch, PATIENCE, Server};
use colibri_test_support::log_chain::{assert_log_is_sound, assert_tasks_match_log};
use colibri_test_support::sql::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::crash::dice::Dice;
use crate::crash::sound::assert_verified;
use crate::crash::victim::Victim;

/// More than a victim ever gets done.
const CALLS: usize = 1000;

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(folder.clone())
}

/// Runs a server into a kill at a random point; the tasks it has acknowledged.
fn killed_at_random(launch: &Launch, dice: &mut Dice) -> Vec<String> {
    let victim = Victim::under_load(launch, CALLS);
    let mut acknowledged: Vec<String> = (0..dice.below(200)).map(|_| victim.acknowledged()).collect();
    std::thread::sleep(dice.microseconds(20_000));
    acknowledged.extend(victim.kill());
    acknowledged
}

/// Boots once, which recovers the file and closes rows.
fn recover(folder: &Arc<TempDir>) -> Server {
    let mut server = launch(folder).start();
    server.data("task_list", json!({ "limit": 1 }));
    server
}

fn assert_all_there(conn: &Connection, acknowledged: &BTreeSet<String>) {
    let mut statement = conn.prepare("SELECT id FROM tasks").unwrap();
    let stored: BTreeSet<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let lost: Vec<&String> = acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    assert_tasks_match_log(conn);
    assert_log_is_sound(conn);
}

/// Rows that were closed in the name of dead processes; no other row is open or aborted.
fn aborted(conn: &Connection) -> usize {
    let rows = actions(conn);
    for row in &rows {
        match row.end() {
            ("ok", None) | ("aborted", Some("PROCESS_ABORTED")) => {}
            other => panic!("{other:?}: {row:?}"),
        }
    }
    rows.iter().filter(|row| row.outcome == "aborted").count()
}

#[test]
fn a_killed_process_loses_nothing_it_has_acknowledged() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut dice = Dice::new(0x5eed_c011_b111);
    let mut acknowledged = BTreeSet::new();
    for round in 0..25 {
        let new = killed_at_random(&launch(&folder), &mut dice);
        let count = acknowledged.len() + new.len();
        acknowledged.extend(new);
        assert_eq!(acknowledged.len(), count, "round {round}: an id was given twice");
        if !acknowledged.is_empty() {
            // As the file lies there, before the next boot has recovered it.
            assert_verified(&folder, &[]);
        }
        if round % 5 == 4 {
            let server = recover(&folder);
            let conn = server.sql();
            assert_all_there(&conn, &acknowledged);
            aborted(&conn);
            assert_eq!(server.finish().code(), 0);
        }
    }
    let server = recover(&folder);
    assert!(aborted(&server.sql()) > 0, "no kill ever met a call between enter and exit");
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
}

/// The living one has a call outside under way, whose row is open all the time.
#[test]
fn a_boot_closes_the_rows_of_the_dead_and_not_those_of_the_living() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut dice = Dice::new(0x11f1_96ed);
    let mut living = Launch::new(env!("CARGO_BIN_EXE_probe")).in_folder(folder.clone()).start();
    living.data("probe_echo", json!({ "required": "x" }));
    let mut acknowledged = BTreeSet::new();
    for _ in 0..5 {
        let request = living.send_call("probe_network", json!({ "ms": 600_000 }));
        let open = await_running(&living, "probe_network");
        acknowledged.extend(killed_at_random(&launch(&folder), &mut dice));
        let server = recover(&folder);
        let conn = server.sql();
        let running: Vec<_> = actions(&conn).into_iter().filter(|row| row.outcome == "running").collect();
        assert_eq!(running, std::slice::from_ref(&open), "only the living one's call is open");
        assert_all_there(&conn, &acknowledged);
        assert_eq!(server.finish().code(), 0);

        living.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": request },
        }));
        await_cancelled(&conn, open.sequence_no);
        living.data("probe_write", json!({ "key": format!("after {request}") }));
    }
    let ended = living.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}

fn await_cancelled(conn: &Connection, sequence_no: i64) {
    let began = Instant::now();
    loop {
        let row = actions(conn).into_iter().find(|row| row.sequence_no == sequence_no).unwrap();
        if row.outcome != "running" {
            assert_eq!(row.end(), ("aborted", Some("CANCELLED")));
            return;
        }
        assert!(began.elapsed() < PATIENCE, "the call is never cancelled");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Both write the same table; the survivor notices nothing and goes on.
#[test]
fn a_kill_beside_a_writing_process_disturbs_nobody() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut dice = Dice::new(0xd1ce);
    let mut living = recover(&folder);
    let mut acknowledged = BTreeSet::new();
    for _ in 0..5 {
        let victim = Victim::under_load(&launch(&folder), CALLS);
        acknowledged.insert(victim.acknowledged());
        for _ in 0..1 + dice.below(30) {
            let task = living.data("task_create", json!({ "title": "living" }));
            acknowledged.insert(task["id"].as_str().unwrap().to_owned());
        }
        acknowledged.extend(victim.kill());
        assert_verified(&folder, &[]);
        let task = living.data("task_create", json!({ "title": "after" }));
        acknowledged.insert(task["id"].as_str().unwrap().to_owned());
        let next = recover(&folder);
        assert_all_there(&next.sql(), &acknowledged);
        assert_eq!(next.finish().code(), 0);
    }
    let ended = living.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}
