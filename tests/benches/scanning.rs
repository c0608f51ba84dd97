//! How other calls fare while `audit_verify_chain` walks a long trail: the same server's `ping`, another process's
//! `task_create`.
//!
//!     cargo bench -p colibri-tests --bench scanning -- [RECORDS] [--rounds N]
//!
//! Makes a database of RECORDS thoughts (default 1,000,000) on RECORDS / 100 chains. Then, N rounds (default 3), server A
//! walks all chains; meanwhile A is pinged one at a time, with a millisecond between pings, and server B creates tasks one at
//! a time under full durability. The same is measured before, without the walk. Exits with 1 when in a round either's p99
//! reaches 50 ms, or when the walk finds anything but all records sound.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "growth/history.rs"]
mod history;
#[path = "growth/latencies.rs"]
mod latencies;
#[path = "growth/store.rs"]
mod store;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::history::{Extent, SESSION, grow};
use self::latencies::Latencies;

/// What neither p99 may reach.
const LIMIT: Duration = Duration::from_millis(50);
/// Between two pings.
const PAUSE: Duration = Duration::from_millis(1);
/// How long both are measured without the walk.
const QUIET: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let (records, rounds) = options();
    let folder = Arc::new(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    fill(&folder, records);
    let mut walking = launch(&folder).start();
    let mut writing = launch(&folder).start();
    walking.data("task_list", json!({ "limit": 1 }));

    let (mut pings, writes) = beside(&mut writing, || quiet(&mut walking));
    let quiet = (Latencies::of(std::mem::take(&mut pings)), Latencies::of(writes));
    println!("without a walk:\n  ping {}\n  task_create elsewhere {}", quiet.0, quiet.1);
    let mut held = true;
    for round in 1..=rounds {
        let (walk, writes) = beside(&mut writing, || walk(&mut walking, records));
        let (pings, writes) = (Latencies::of(walk.pings), Latencies::of(writes));
        let rate = records as f64 / walk.took.as_secs_f64();
        println!("round {round}: walk of {records} records in {:.2?} ({rate:.0} records/s)", walk.took);
        println!("  ping {pings}\n  task_create elsewhere {writes}");
        held &= pings.at(99) < LIMIT && writes.at(99) < LIMIT;
    }
    if !held {
        println!("BROKEN: a p99 reaches {LIMIT:?}");
    }
    ExitCode::from(u8::from(!held))
}

/// Records and rounds.
fn options() -> (i64, usize) {
    let (mut records, mut rounds) = (1_000_000, 3);
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => rounds = arguments.next().unwrap().parse().unwrap(),
            number => records = number.replace('_', "").parse().unwrap(),
        }
    }
    (records, rounds)
}

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder.clone())
        .env("COLIBRI_DURABILITY", "full")
}

/// Lets a server make the database, and fills it.
fn fill(folder: &Arc<TempDir>, records: i64) {
    let mut server = launch(folder).start();
    server.data("audit_session_start", json!({ "intent": "be walked", "session_id": SESSION }));
    let database = server.database();
    assert_eq!(server.finish().code(), 0);
    let began = Instant::now();
    grow(&database, Extent { tasks: 0, thoughts: records }, Duration::from_secs(30 * 24 * 3600));
    println!("{records} thoughts written in {:.1} s", began.elapsed().as_secs_f64());
}

/// Creates tasks through the other server, one at a time, while `work` lasts. Returns the result of `work`, and each task's time.
fn beside<T>(writing: &mut Server, work: impl FnOnce() -> T) -> (T, Vec<Duration>) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut took = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let began = Instant::now();
                writing.send_call("task_create", json!({ "title": "meanwhile" }));
                let answer = writing.receive();
                took.push(began.elapsed());
                assert_eq!(answer["result"]["structuredContent"]["ok"], json!(true), "{answer}");
            }
            took
        });
        let stopping = Stopping(&stop);
        let done = work();
        drop(stopping);
        (done, writer.join().expect("tasks are created"))
    })
}

/// Stops the writer, even when the work beside it fails.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Pings for a while.
fn quiet(server: &mut Server) -> Vec<Duration> {
    let mut pings = Vec::new();
    let until = Instant::now() + QUIET;
    while Instant::now() < until {
        let began = Instant::now();
        server.request("ping", json!({}));
        pings.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    pings
}

/// What a walk took, and the pings beside it.
struct Walk {
    took: Duration,
    pings: Vec<Duration>,
}

/// Lets the server walk all chains, and pings it until it has answered.
fn walk(server: &mut Server, records: i64) -> Walk {
    let began = Instant::now();
    let id = server.send_call("audit_verify_chain", json!({}));
    let mut pings = Vec::new();
    loop {
        let sent = Instant::now();
        let ping = server.send_request("ping", json!({}));
        let answer = server.receive();
        if answer["id"] != json!(id) {
            assert_eq!(answer["id"], json!(ping), "{answer}");
            pings.push(sent.elapsed());
            std::thread::sleep(PAUSE);
            continue;
        }
        let took = began.elapsed();
        assert_sound(&answer, records);
        // This one waited behind the walk's long reply, and behind this client, which has read it.
        assert_eq!(server.receive()["id"], json!(ping));
        pings.push(sent.elapsed());
        return Walk { took, pings };
    }
}

fn assert_sound(answer: &Value, records: i64) {
    let data = &answer["result"]["structuredContent"]["data"];
    assert_eq!(data["valid"], json!(true), "{}", data["issues"]);
    assert_eq!(data["record_count"], json!(records));
}
