//! What verification costs beside the least it could cost: reading the same columns and hashing the same bytes.
//!
//!     cargo bench -p colibri-tests --bench verification -- [RECORDS] [TASKS]
//!
//! Writes RECORDS thoughts (default 100,000) on TASKS tasks (default 1,000) through the real server, seals a session,
//! then takes turns, five rounds: the bare reading, `colibri verify`, and `audit_verify_chain` over the wire with pings
//! beside it and another process's writes. Prints ratios of one round, the median of all, and peak memory. Then the same for
//! `colibri verify` of a file with ten changes of each of 10 × TASKS tasks, each an event of a history.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const ROUNDS: usize = 5;
/// Calls sent before the first of their answers is awaited.
const WINDOW: usize = 256;
/// What the trail's verification has to read.
const TRAIL: &str = "SELECT content, id, prev_hash, task_id, timestamp, type, hash, zone, content_compressed, \
                     content_hash FROM thought_records ORDER BY seq";
/// What a whole verification has to read and hash besides: the log once, and each record's reply.
const WHOLE: [&str; 3] = [
    TRAIL,
    "SELECT * FROM actions ORDER BY exit_no",
    "SELECT content, id, prev_hash, task_id, timestamp, type, hash, agent_id, session_id FROM thought_records ORDER BY seq",
];

/// What the same takes of a file that holds tasks and their histories.
const HISTORIES: [&str; 3] = [
    "SELECT * FROM actions ORDER BY exit_no",
    "SELECT * FROM task_events ORDER BY task_id, event_no",
    "SELECT * FROM tasks",
];
/// Changes of each task.
const CHANGES: usize = 10;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (records, tasks) = (numbers.next().unwrap_or(100_000), numbers.next().unwrap_or(1_000));
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env("COLIBRI_DURABILITY", "normal");
    let folder = launch.folder();
    let mut server = launch.start();
    let began = Instant::now();
    fill(&mut server, records, tasks);
    println!("{records} thoughts on {tasks} tasks written in {:.1} s", began.elapsed().as_secs_f64());
    let database = server.database();
    let mut neighbour = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder)
        .env("COLIBRI_DURABILITY", "normal")
        .start();

    let (mut verify, mut tool) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let trail = bare(&database, &[TRAIL]);
        let whole = bare(&database, &WHOLE);
        let (command, memory) = command(&database);
        let scan = scan(&mut server, &mut neighbour, records);
        verify.push(command.as_secs_f64() / whole.as_secs_f64());
        tool.push(scan.took.as_secs_f64() / trail.as_secs_f64());
        println!(
            "round {round}: verify {:.2} of reading and hashing ({command:.2?} / {whole:.2?}), peak {memory}; \
             audit_verify_chain {:.2} ({:.2?} / {trail:.2?}); beside it: ping p99 {:.1?}, max {:.1?}; \
             task_create elsewhere p99 {:.1?}, max {:.1?} ({} calls)",
            verify[round - 1],
            tool[round - 1],
            scan.took,
            scan.pings.p99,
            scan.pings.max,
            scan.writes.p99,
            scan.writes.max,
            scan.writes.count,
        );
    }
    println!("median: verify {:.2}, audit_verify_chain {:.2}", median(&mut verify), median(&mut tool));
    histories(10 * tasks);
}

/// Measures the verification of tasks that were changed.
fn histories(tasks: usize) {
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env("COLIBRI_DURABILITY", "normal");
    let mut server = launch.start();
    let create = |number| ("task_create", json!({ "title": format!("Task {number}") }));
    let ids: Vec<Value> = pipelined(&mut server, (0..tasks).map(create))
        .into_iter()
        .map(|mut data| data["id"].take())
        .collect();
    let rounds = (0..CHANGES).flat_map(|round| ids.iter().map(move |id| (round, id)));
    let change = |(round, id)| ("task_update", json!({ "id": id, "title": format!("Title {round}") }));
    pipelined(&mut server, rounds.map(change));
    let database = server.database();
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (least, (took, peak)) = (bare(&database, &HISTORIES), command(&database));
        ratios.push(took.as_secs_f64() / least.as_secs_f64());
        println!("{tasks} tasks, {CHANGES} changes each: verify {took:.2?} / {least:.2?}, peak {peak}");
    }
    println!("median: verify with histories {:.2}", median(&mut ratios));
}

/// Makes calls that succeed, and returns their payloads.
fn pipelined<'a>(server: &mut Server, calls: impl Iterator<Item = (&'a str, Value)>) -> Vec<Value> {
    let (mut payloads, mut calls) = (Vec::new(), calls.peekable());
    while calls.peek().is_some() {
        let sent =
            calls.by_ref().take(WINDOW).map(|(tool, arguments)| server.send_call(tool, arguments)).count();
        payloads.extend((0..sent).map(|_| {
            let mut answer = server.receive();
            assert_eq!(answer["result"]["structuredContent"]["ok"], json!(true), "{answer}");
            answer["result"]["structuredContent"]["data"].take()
        }));
    }
    payloads
}

/// Writes the records, all bound to one session, which is left open; a second one is sealed.
fn fill(server: &mut Server, records: usize, tasks: usize) {
    for session in ["open", "sealed"] {
        server.data("audit_session_start", json!({ "intent": "measure", "session_id": session }));
    }
    let content =
        "The invariant holds because every append reads the tip inside its own transaction. ".repeat(3);
    let call = |number| {
        let session = if number < records / 10 { "sealed" } else { "open" };
        let arguments = json!({
            "type": "analysis", "task_id": format!("task-{:06}", number % tasks), "agent_id": "agent-1",
            "content": format!("{number}: {content}"), "session_id": session,
        });
        ("thought_record", arguments)
    };
    pipelined(server, (0..records).map(call));
    server.data("merkle_finalize", json!({ "session_id": "sealed" }));
}

/// Reads the columns and hashes their bytes: what no verification can leave out.
fn bare(database: &Path, statements: &[&str]) -> Duration {
    let began = Instant::now();
    let conn = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    for sql in statements {
        let mut statement = conn.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut last = [0; 32];
        while let Some(row) = rows.next().unwrap() {
            let mut hash = Sha256::new();
            for column in 0..columns {
                match row.get_ref(column).unwrap() {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => hash.update(bytes),
                    ValueRef::Integer(number) => hash.update(number.to_le_bytes()),
                    ValueRef::Real(_) | ValueRef::Null => {}
                }
            }
            last = hash.finalize().into();
        }
        std::hint::black_box(last);
    }
    began.elapsed()
}

/// Runs `colibri verify`; the time it took and its peak memory.
fn command(database: &Path) -> (Duration, String) {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .args(["verify", "--db"])
        .arg(database)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = String::new();
    let status = loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        if let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
            peak = line.trim().to_owned();
        }
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    assert!(status.success(), "the database is not sound");
    (began.elapsed(), peak)
}

/// What a walk took, and how others fared meanwhile.
struct Scan {
    took: Duration,
    pings: Latencies,
    writes: Latencies,
}

/// Calls `audit_verify_chain`, pings the same server and writes through the other until the answer is there.
fn scan(server: &mut Server, neighbour: &mut Server, records: usize) -> Scan {
    let began = Instant::now();
    let walk = server.send_call("audit_verify_chain", json!({}));
    let (mut pings, mut writes) = (Vec::new(), Vec::new());
    let took = loop {
        let sent = Instant::now();
        let ping = server.send_request("ping", json!({}));
        let answer = server.receive();
        if answer["id"] == json!(walk) {
            assert_eq!(answer["result"]["structuredContent"]["data"]["record_count"], json!(records));
            let took = began.elapsed();
            assert_eq!(server.receive()["id"], json!(ping));
            break took;
        }
        pings.push(sent.elapsed());
        let sent = Instant::now();
        neighbour.data("task_create", json!({ "title": "meanwhile" }));
        writes.push(sent.elapsed());
        std::thread::sleep(Duration::from_millis(1));
    };
    Scan { took, pings: Latencies::of(pings), writes: Latencies::of(writes) }
}

/// What was measured many times, in short.
struct Latencies {
    count: usize,
    p99: Duration,
    max: Duration,
}

impl Latencies {
    fn of(mut all: Vec<Duration>) -> Self {
        all.sort();
        let at = |share: usize| all.get(all.len() * share / 100).or(all.last()).copied().unwrap_or_default();
        Self { count: all.len(), p99: at(99), max: at(100) }
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
