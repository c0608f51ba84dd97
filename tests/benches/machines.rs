//! Measures a server on PostgreSQL against PostgreSQL itself, in one run.
//!
//!     cargo bench -p colibri-tests --bench machines -- [CALLS] [--rounds N] [--snapshot SECONDS]
//!
//! One server does CALLS calls of `task_create` (default 4,000) with 16 under way, and one at a time. Beside it, a client of
//! PostgreSQL inserts the same three rows in one statement that commits, one at a time, on one connection: what a program
//! without a chain would do. Then the server works while another connection keeps a snapshot open (default 10 s), which
//! keeps dead rows from being reused. Rounds alternate; the median ratios count.
//!
//! Needs a PostgreSQL, as the tests do: `COLIBRI_TEST_POSTGRES` names its folder of programs. Exits with 1 when a limit is missed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::postgres::{Database, Role};
use postgres::Client;
use serde_json::json;

/// Calls under way at any time.
const WINDOW: usize = 16;
/// The rate with 16 calls under way, as a multiple of the bare one.
const OF_BARE: f64 = 2.0;
/// The rate beside a snapshot, as a part of the rate without one.
const BESIDE_SNAPSHOT: f64 = 0.8;

/// The rows of a call, as the server stores them.
const BARE: &str = "WITH entered AS (
    INSERT INTO colibri.enters (sequence_no, correlation_id, boot_id, request_id, tool, mode, args_hash, entered_at, enter_ms)
    SELECT coalesce(max(sequence_no), 0) + 1, $1, 'bare', '1', 'task_create', 'FULL', $2, $3, 1 FROM colibri.enters
    RETURNING sequence_no),
  task AS (
    INSERT INTO colibri.tasks (id, created_at, updated_at, title, sequence_no) SELECT $1, $3, $3, $4, sequence_no FROM entered)
  INSERT INTO colibri.exits (sequence_no, outcome, result_hash, duration_ms, exited_at, exit_no, prev_hash, row_hash, subject)
  SELECT sequence_no, 'ok', $2, 0, $3, sequence_no, $2, $2, $1 FROM entered";

struct Options {
    calls: usize,
    rounds: usize,
    snapshot: Duration,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { calls: 4_000, rounds: 3, snapshot: Duration::from_secs(10) };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let mut number = || arguments.next().unwrap().parse().unwrap();
            match argument.as_str() {
                "--rounds" => options.rounds = number(),
                "--snapshot" => options.snapshot = Duration::from_secs(number() as u64),
                calls => options.calls = calls.replace('_', "").parse().unwrap(),
            }
        }
        options
    }
}

fn main() -> ExitCode {
    let options = Options::read();
    let Some(database) = Database::new() else { return ExitCode::FAILURE };
    let (mut bare, mut one, mut many, mut beside) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let bare_database = Database::new().unwrap();
        bare.push(bare_rate(&mut bare_database.client(Role::Superuser), options.calls));
        let mut server = launch(&database).start();
        server.ready_by("task_list", json!({ "limit": 1 }));
        one.push(rate(&mut server, options.calls / 4, 1));
        many.push(rate(&mut server, options.calls, WINDOW));
        beside.push(rate_beside_snapshot(&mut server, &database, options.snapshot));
        server.finish();
    }
    let (bare, one, many, beside) = (median(bare), median(one), median(many), median(beside));
    println!("| what | calls/s | ratio | at least |");
    println!("| --- | ---: | ---: | ---: |");
    println!("| bare statement with its commit, one at a time | {bare:.0} | | |");
    println!("| server, one at a time | {one:.0} | {:.2} of bare | |", one / bare);
    println!("| server, {WINDOW} under way | {many:.0} | {:.2} of bare | {OF_BARE} |", many / bare);
    println!(
        "| the same beside a snapshot of {} s | {beside:.0} | {:.2} of without | {BESIDE_SNAPSHOT} |",
        options.snapshot.as_secs(),
        beside / many
    );
    ExitCode::from(u8::from(many / bare < OF_BARE || beside / many < BESIDE_SNAPSHOT))
}

fn launch(database: &Database) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .env("COLIBRI_DATABASE_URL", database.url(Role::App))
        .env("COLIBRI_DURABILITY", "full")
}

/// Inserts the rows of calls, one statement and commit each.
fn bare_rate(client: &mut Client, calls: usize) -> f64 {
    let statement = client.prepare(BARE).expect("the schema's columns");
    let (hash, at, title) = ("a".repeat(64), "2026-05-01T10:00:00.000Z", "a task of the bench");
    let began = Instant::now();
    for number in 0..calls {
        let id = format!("{number:036}");
        client.execute(&statement, &[&id, &hash, &at, &title]).expect("three rows");
    }
    calls as f64 / began.elapsed().as_secs_f64()
}

/// Does calls, of which a window is under way; returns how many a second.
fn rate(server: &mut Server, calls: usize, window: usize) -> f64 {
    let began = Instant::now();
    work(server, window, |done| done < calls);
    calls as f64 / began.elapsed().as_secs_f64()
}

/// Sends calls while `more` says so of the number sent, and waits for all answers; returns how many there were.
fn work(server: &mut Server, window: usize, mut more: impl FnMut(usize) -> bool) -> usize {
    let (mut sent, mut answered) = (0, 0);
    loop {
        while sent - answered < window && more(sent) {
            server.send_call("task_create", json!({ "title": "a task of the bench" }));
            sent += 1;
        }
        if answered == sent {
            return sent;
        }
        let answer = server.receive();
        assert_eq!(answer["result"]["isError"], json!(null), "{answer}");
        answered += 1;
    }
}

/// Works for that time while another connection reads the database as it was at the beginning.
fn rate_beside_snapshot(server: &mut Server, database: &Database, length: Duration) -> f64 {
    let mut reader = database.client(Role::Superuser);
    let mut snapshot =
        reader.build_transaction().isolation_level(postgres::IsolationLevel::RepeatableRead).start().unwrap();
    snapshot.query_one("SELECT count(*) FROM colibri.enters", &[]).unwrap();
    let began = Instant::now();
    let calls = work(server, WINDOW, |_| began.elapsed() < length);
    let rate = calls as f64 / began.elapsed().as_secs_f64();
    snapshot.query_one("SELECT count(*) FROM colibri.enters", &[]).unwrap();
    rate
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
