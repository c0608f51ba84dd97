//! Relays and Colibri's own servers beside one another on one file, and how many rows share a sync. `COLIBRI_WRAP_CALLS` says how many
//! calls each of them makes.

use std::collections::VecDeque;
use std::sync::{Arc, Barrier};
use std::time::Instant;

use colibri_test_support::client::{Launch, envelope, response};
use colibri_test_support::engine;
use colibri_test_support::log_chain::{assert_log_is_sound, assert_tasks_match_log};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::peer::{COLIBRI, Client, Relay, Setup};
use crate::crash::layer::check::sound;
use crate::crash::layer::record::{self, Operation};
use crate::crash::layer::shim::Layer;

/// Calls in flight at any time.
const WINDOW: usize = 16;
const RELAYS: usize = 4;
const SERVERS: usize = 2;
/// How often the measurement is taken again, each time for longer, when the machine was busy with something else.
const TRIES: usize = 6;
/// The slowest process's rate, as a part of the fastest one's.
const FAIR: f64 = 0.5;
/// Syncs a call, at most.
const SYNCS: f64 = 0.3;

fn calls(ordinary: usize) -> usize {
    let asked = std::env::var("COLIBRI_WRAP_CALLS").ok();
    asked.map_or(ordinary, |text| text.parse().expect("COLIBRI_WRAP_CALLS is a number"))
}

/// Makes calls with a full window; when each was answered. Answers come in the order of the calls.
fn pipeline(count: usize, mut send: impl FnMut(usize), mut answer: impl FnMut() -> usize) -> Vec<Instant> {
    let (mut sent, mut under_way, mut at) = (0, VecDeque::new(), Vec::new());
    while at.len() < count {
        while under_way.len() < WINDOW && sent < count {
            send(sent);
            under_way.push_back(sent);
            sent += 1;
        }
        assert_eq!(Some(answer()), under_way.pop_front());
        at.push(Instant::now());
    }
    at
}

/// The calls of a relay's client.
fn echoes(client: &mut Client, count: usize) -> Vec<Instant> {
    let client = std::cell::RefCell::new(client);
    let send = |id| {
        let params = json!({ "name": "echo", "arguments": { "n": id } });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        assert!(client.borrow_mut().send(&call));
    };
    let answer = || {
        let answer: Value = client.borrow_mut().message();
        assert!(answer["result"]["content"].is_array(), "{answer}");
        usize::try_from(answer["id"].as_u64().unwrap()).unwrap()
    };
    pipeline(count, send, answer)
}

fn relay(folder: &Arc<TempDir>, number: usize, start: &Barrier, count: usize) -> Vec<Instant> {
    let setup = Setup::new(Relay::Wrap, &format!("odd{number}"), folder);
    let mut client = setup.start();
    assert!(client.greet());
    echoes(&mut client, 1);
    start.wait();
    let at = echoes(&mut client, count);
    client.close();
    assert_eq!(client.wait().code(), Some(0));
    // A lock that another process holds would be told of.
    assert_eq!(client.stderr(), "");
    at
}

fn server(folder: &Arc<TempDir>, number: usize, start: &Barrier, count: usize) -> Vec<Instant> {
    let mut server = Launch::new(COLIBRI).in_folder(folder.clone()).start();
    server.data("task_list", json!({ "limit": 1 }));
    start.wait();
    let server = std::cell::RefCell::new(server);
    let mut answered = 0;
    let send = |id: usize| {
        server.borrow_mut().send_call("task_create", json!({ "title": format!("{number}-{id}") }));
    };
    let answer = || {
        let line = server.borrow_mut().raw_line(colibri_test_support::client::PATIENCE).expect("an answer");
        let envelope = envelope(&response(&line));
        assert_eq!(envelope["ok"], true, "{envelope}");
        answered += 1;
        answered - 1
    };
    let at = pipeline(count, send, answer);
    assert_eq!(server.into_inner().finish().code(), 0);
    at
}

/// The slowest rate as a part of the fastest, over the time in which all were at work, in turns to write. With so many calls in flight a
/// process makes as many calls as the turns that each of them waits for allow: two through a relay, one with Colibri's own server.
fn fairness(relays: &[Vec<Instant>], servers: &[Vec<Instant>]) -> f64 {
    let done = || relays.iter().map(|at| (at, 2)).chain(servers.iter().map(|at| (at, 1)));
    let begin = done().map(|(at, _)| at[0]).max().unwrap();
    let end = done().map(|(at, _)| *at.last().unwrap()).min().unwrap();
    let turns = done().map(|(at, turns)| turns * at.iter().filter(|at| (begin..=end).contains(at)).count());
    let (slowest, fastest) = (turns.clone().min().unwrap(), turns.max().unwrap());
    slowest as f64 / fastest as f64
}

/// Lets all of them work side by side, and checks what they have left.
fn side_by_side(count: usize) -> f64 {
    let folder = Arc::new(TempDir::new().unwrap());
    let start = Barrier::new(RELAYS + SERVERS);
    let done: Vec<Vec<Instant>> = std::thread::scope(|scope| {
        let (folder, start) = (&folder, &start);
        let relays = (0..RELAYS).map(|number| scope.spawn(move || relay(folder, number, start, count)));
        let servers = (0..SERVERS).map(|number| scope.spawn(move || server(folder, number, start, count)));
        let workers: Vec<_> = relays.chain(servers).collect();
        workers.into_iter().map(|worker| worker.join().expect("it did its work")).collect()
    });
    let conn = engine::open(folder.path().join("colibri.db"));
    for number in 0..RELAYS {
        let sql = format!(
            "SELECT count(*), count(DISTINCT request_id) FROM actions WHERE tool = 'odd{number}/echo' AND outcome = 'ok'"
        );
        let found = conn.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        // The first call was made before all of them began, under an id that is used again.
        assert_eq!(found.unwrap(), (count as i64 + 1, count as i64));
    }
    assert_eq!(assert_tasks_match_log(&conn), (SERVERS * count) as i64);
    let log = assert_log_is_sound(&conn);
    assert_eq!(log.rows, log.closed, "every call has ended");
    assert_eq!(sound(folder.path()), Ok(()));
    fairness(&done[..RELAYS], &done[RELAYS..])
}

#[test]
fn wrap_37_relays_and_servers_on_one_file_lose_nothing_and_wait_fairly() {
    let mut measured = Vec::new();
    for number in 1..=TRIES {
        measured.push(side_by_side(calls(300 * number)));
        if measured.last().is_some_and(|ratio| *ratio >= FAIR) {
            return;
        }
    }
    panic!("the slowest process had these parts of the fastest one's rate: {measured:?}");
}

#[test]
fn wrap_21_many_rows_share_a_sync_and_those_of_replies_and_calls_one_transaction() {
    let (folder, beside) = (Arc::new(TempDir::new().unwrap()), TempDir::new().unwrap());
    let file = beside.path().join("record");
    let layer = Layer::over(folder.path()).record(&file).pipes();
    let setup = Setup { layer: Some(layer), ..Setup::new(Relay::Wrap, "odd", &folder) };
    let mut client = setup.start();
    assert!(client.greet());
    let count = calls(1_500);
    echoes(&mut client, count);
    let entries = record::read(&file);
    let own: Vec<_> = entries.iter().filter(|entry| entry.process == client.pid()).collect();
    // The start has syncs of its own.
    let first = own.iter().position(|entry| matches!(&entry.operation, Operation::Sent(_))).unwrap();
    let (mut syncs, mut both, mut passed) = (0, 0, (false, false));
    for entry in &own[first..] {
        match &entry.operation {
            Operation::Synced(_) => {
                syncs += 1;
                both += usize::from(passed == (true, true));
                passed = (false, false);
            }
            Operation::Sent(_) => passed.0 = true,
            Operation::Reply(_) => passed.1 = true,
            _ => {}
        }
    }
    let each = f64::from(syncs) / count as f64;
    assert!(each <= SYNCS, "{each} syncs a call");
    // What leaves between two syncs is what the first of them covered.
    assert!(both > 0, "none of {syncs} syncs covered both replies and calls");
}

#[test]
fn wrap_21_the_log_of_the_database_does_not_grow_with_the_calls() {
    let folder = Arc::new(TempDir::new().unwrap());
    let setup = Setup { durability: "normal", ..Setup::new(Relay::Wrap, "odd", &folder) };
    let mut client = setup.start();
    assert!(client.greet());
    // One at a time, each in two commits of some 6 KB.
    for _ in 0..calls(1_500) {
        echoes(&mut client, 1);
    }
    // It is copied when it has 4 MiB, beside the calls, and then written from its beginning.
    let length = std::fs::metadata(folder.path().join("colibri.db-wal")).unwrap().len();
    assert!((4..12).contains(&(length / 1_000_000)), "{length} bytes");
    client.close();
    assert_eq!(client.wait().code(), Some(0));
}
