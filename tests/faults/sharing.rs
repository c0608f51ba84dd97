//! Several processes on one database file (store#sharing, store#process-locks): nothing is lost, no chain forks, no client sees a
//! lock, every process gets a turn.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Instant;

use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::log_chain::{assert_log_is_sound, assert_tasks_match_log};
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Calls under way at any time.
const WINDOW: usize = 16;
/// Every so many calls one reads back what was acknowledged last.
const READ_EVERY: usize = 8;
/// How often the measurement is taken again when the machine was busy with something else.
const TRIES: usize = 3;
/// The slowest process's rate, as a part of the fastest one's.
const FAIR: f64 = 0.5;

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(folder.clone())
}

fn folder() -> Arc<TempDir> {
    Arc::new(TempDir::new().unwrap())
}

fn sql(folder: &TempDir) -> Connection {
    colibri_test_support::engine::open(folder.path().join("colibri.db"))
}

/// What one process has done.
struct Done {
    /// Acknowledged tasks: id and title.
    tasks: Vec<(String, String)>,
    /// When each task was acknowledged.
    at: Vec<Instant>,
}

/// The payload of a reply, which must be a success: no client may notice that the file is shared.
fn payload(server: &mut Server) -> Value {
    let envelope = envelope(&server.receive());
    assert_eq!(envelope["ok"], true, "{envelope}");
    assert_ne!(envelope["data"]["ok"], false, "{envelope}");
    envelope["data"].clone()
}

/// Creates `count` tasks with a full window, and reads some of them back in between.
fn pipeline(server: &mut Server, name: usize, count: usize) -> Done {
    let mut done = Done { tasks: Vec::new(), at: Vec::new() };
    let (mut sent, mut under_way) = (0, 0);
    while done.tasks.len() < count {
        while under_way < WINDOW && sent < count {
            server.send_call("task_create", json!({ "title": format!("{name}-{sent}") }));
            sent += 1;
            under_way += 1;
            if let Some((id, _)) = done.tasks.last().filter(|_| sent % READ_EVERY == 0) {
                server.send_call("task_get", json!({ "id": id }));
                under_way += 1;
            }
        }
        let task = payload(server);
        under_way -= 1;
        let (id, title) =
            (task["id"].as_str().unwrap().to_owned(), task["title"].as_str().unwrap().to_owned());
        if !done.tasks.contains(&(id.clone(), title.clone())) {
            done.tasks.push((id, title));
            done.at.push(Instant::now());
        }
    }
    for _ in 0..under_way {
        payload(server);
    }
    done
}

/// Lets processes work side by side, and returns what each has done.
fn side_by_side(folder: &Arc<TempDir>, processes: usize, count: usize) -> Vec<Done> {
    let start = Arc::new(Barrier::new(processes));
    let workers: Vec<_> = (0..processes)
        .map(|name| {
            let (mut server, start) = (launch(folder).start(), start.clone());
            std::thread::spawn(move || {
                server.data("task_list", json!({ "limit": 1 }));
                start.wait();
                let done = pipeline(&mut server, name, count);
                let ended = server.finish();
                assert_eq!(ended.code(), 0, "{}", ended.stderr);
                done
            })
        })
        .collect();
    workers.into_iter().map(|worker| worker.join().expect("the process did its work")).collect()
}

/// Everything acknowledged is stored once and nothing else is; log and chain are whole.
fn assert_nothing_lost(folder: &TempDir, done: &[Done]) {
    let conn = sql(folder);
    let acknowledged: BTreeMap<String, String> =
        done.iter().flat_map(|done| done.tasks.iter().cloned()).collect();
    let stored: BTreeMap<String, String> = conn
        .prepare("SELECT id, title FROM tasks")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(stored, acknowledged);
    assert_eq!(assert_tasks_match_log(&conn), i64::try_from(stored.len()).unwrap());
    let log = assert_log_is_sound(&conn);
    assert_eq!(log.rows, log.closed, "every call has ended");
}

/// The slowest rate as a part of the fastest, over the time in which all were at work.
fn fairness(done: &[Done]) -> f64 {
    let begin = done.iter().map(|done| done.at[0]).max().unwrap();
    let end = done.iter().map(|done| *done.at.last().unwrap()).min().unwrap();
    let counts = done.iter().map(|done| done.at.iter().filter(|at| (begin..=end).contains(at)).count());
    let (slowest, fastest) = (counts.clone().min().unwrap(), counts.max().unwrap());
    f64::from(u32::try_from(slowest).unwrap()) / f64::from(u32::try_from(fastest).unwrap())
}

fn share_fairly(processes: usize, count: usize) {
    let mut measured = Vec::new();
    for _ in 0..TRIES {
        let folder = folder();
        let done = side_by_side(&folder, processes, count);
        assert_nothing_lost(&folder, &done);
        measured.push(fairness(&done));
        if measured.last().is_some_and(|ratio| *ratio >= FAIR) {
            return;
        }
    }
    panic!("the slowest of {processes} processes had these parts of the fastest one's rate: {measured:?}");
}

#[test]
fn two_processes_lose_nothing_and_wait_fairly() {
    share_fairly(2, 600);
}

#[test]
fn eight_processes_lose_nothing_and_wait_fairly() {
    share_fairly(8, 300);
}

#[test]
fn a_readonly_process_follows_the_writers() {
    let folder = folder();
    launch(&folder).start().data("task_list", json!({}));
    let mut reader = launch(&folder).env("COLIBRI_MODE", "READONLY").start();
    let stop = Arc::new(AtomicBool::new(false));
    let watching = {
        let stop = stop.clone();
        std::thread::spawn(move || {
            let (mut seen, mut reads) = (0, 0);
            loop {
                let last = stop.load(Ordering::SeqCst);
                let total = reader.data("task_list", json!({ "limit": 5 }))["total_count"].as_i64().unwrap();
                assert!(total >= seen, "{total} after {seen}");
                (seen, reads) = (total, reads + 1);
                if last {
                    break;
                }
            }
            let denied = reader.call("task_create", json!({ "title": "not here" }));
            assert_eq!(denied["error"]["code"], "TOOL_NOT_ADMITTED", "{denied}");
            assert_eq!(reader.finish().code(), 0);
            (seen, reads)
        })
    };
    let done = side_by_side(&folder, 2, 200);
    stop.store(true, Ordering::SeqCst);
    let (seen, reads) = watching.join().expect("the reader reads");
    assert_eq!(seen, 400);
    assert!(reads > 1, "it read while the others wrote");
    assert_nothing_lost(&folder, &done);
}

#[test]
fn processes_that_start_at_once_on_a_missing_file_all_serve() {
    for processes in [2, 2, 2, 4] {
        let folder = folder();
        let mut servers: Vec<Server> = (0..processes).map(|_| launch(&folder).start()).collect();
        for server in &mut servers {
            server.send_call("task_create", json!({ "title": "first" }));
        }
        for server in &mut servers {
            payload(server);
        }
        for server in servers {
            let ended = server.finish();
            assert_eq!(ended.code(), 0, "{}", ended.stderr);
            assert!(!ended.stderr.contains(" ERROR "), "{}", ended.stderr);
        }
        let conn = sql(&folder);
        assert_eq!(assert_tasks_match_log(&conn), processes);
        assert_log_is_sound(&conn);
        let versions: i64 = conn.sqlite().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert!(versions > 0);
        // A process that has stopped cleanly leaves no sign of life behind.
        let locks = std::fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".lock"))
            .count();
        assert_eq!(locks, 0);
    }
}
