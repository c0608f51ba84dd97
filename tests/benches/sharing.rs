//! Measures several processes on one database file: their speed, their fairness, and whether a call is lost.
//!
//!     cargo bench -p colibri-tests --bench sharing -- [CALLS] [--folder PATH] [--rounds N]
//!
//! 1, 2, 4 and 8 servers with a client each do CALLS calls (default 10,000) under full durability, `task_create` and
//! `thought_record` in turn, on chains that all share; first with 16 calls under way at a time, then one at a time. Rates are
//! of the time in which all servers work and are warm: from the moment when the last one has done a tenth of its calls until
//! the first one has done all. Afterwards each database is checked: every acknowledged call exactly once, log and chains
//! unforked. Exits with 1 when a promise is broken; of several rounds (default 1) the median ratios count.
//!
//! The databases lie below PATH, by default the build's folder for temporary files. It should be on a real disk.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "growth/latencies.rs"]
mod latencies;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::log_chain::assert_log_is_sound;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::latencies::Latencies;

const PROCESSES: [usize; 4] = [1, 2, 4, 8];
/// Calls under way at any time, of each process.
const WINDOWS: [usize; 2] = [16, 1];
/// Chains that all processes append to.
const CHAINS: usize = 8;
/// The session that all thoughts are bound to.
const SESSION: &str = "shared";

/// No call waits longer.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The slowest process's rate, as a part of the fastest one's.
const FAIR: f64 = 0.5;
/// All processes' rate, as a part of what one process does alone.
const TOTAL: f64 = 0.6;

struct Options {
    calls: usize,
    folder: PathBuf,
    rounds: usize,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { calls: 10_000, folder: env!("CARGO_TARGET_TMPDIR").into(), rounds: 1 };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--folder" => options.folder = arguments.next().unwrap().into(),
                "--rounds" => options.rounds = arguments.next().unwrap().parse().unwrap(),
                number => options.calls = number.replace('_', "").parse().unwrap(),
            }
        }
        options
    }
}

fn main() -> ExitCode {
    let options = Options::read();
    let mut broken = Vec::new();
    for window in WINDOWS {
        let way = if window == 1 { "one at a time".to_owned() } else { format!("{window} under way") };
        println!("\n{} calls a process, {way}\n", options.calls);
        println!("| processes | calls/s | of one | slowest / fastest | one call | errors |");
        println!("|{}", " ---: |".repeat(6));
        let mut alone = Vec::new();
        for processes in PROCESSES {
            let measured: Vec<Measured> =
                (0..options.rounds).map(|_| run(&options, processes, window)).collect();
            if processes == 1 {
                alone = measured.iter().map(|one| one.total).collect();
            }
            let ratios = measured.iter().zip(&alone).map(|(one, alone)| one.total / alone).collect();
            let of_one = median(ratios);
            let fairness = median(measured.iter().map(|one| one.fairness).collect());
            let total = median(measured.iter().map(|one| one.total).collect());
            let errors: usize = measured.iter().map(|one| one.errors.len()).sum();
            let waits = Latencies::of(measured.iter().flat_map(|one| one.waits.iter().copied()).collect());
            println!("| {processes} | {total:.0} | {of_one:.2} | {fairness:.2} | {waits} | {errors} |");
            let mut hold = |promise: bool, what: String| {
                if !promise {
                    broken.push(format!("{processes} processes, {way}: {what}"));
                }
            };
            hold(of_one >= TOTAL, format!("{of_one:.2} of one process's throughput, at least {TOTAL}"));
            hold(fairness >= FAIR, format!("the slowest does {fairness:.2} of the fastest, at least {FAIR}"));
            hold(waits.at(100) <= LONGEST_WAIT, format!("a call waited {:.2?}", waits.at(100)));
            for error in measured.iter().flat_map(|one| &one.errors).take(5) {
                hold(false, error.clone());
            }
        }
    }
    for promise in &broken {
        println!("BROKEN: {promise}");
    }
    ExitCode::from(u8::from(!broken.is_empty()))
}

/// The result of several processes together.
struct Measured {
    /// Calls a second while all were at work.
    total: f64,
    /// The slowest process's rate as a part of the fastest one's, in that time.
    fairness: f64,
    /// How long each call took, of all processes and the whole time.
    waits: Vec<Duration>,
    /// Calls that failed, servers that complained, and what the database lacks.
    errors: Vec<String>,
}

/// The result of one process.
#[derive(Default)]
struct Done {
    /// When each call was answered.
    at: Vec<Instant>,
    waits: Vec<Duration>,
    /// Title or content of each acknowledged call.
    acknowledged: Vec<String>,
    errors: Vec<String>,
}

fn run(options: &Options, processes: usize, window: usize) -> Measured {
    let folder = Arc::new(TempDir::new_in(&options.folder).unwrap());
    launch(&folder)
        .start()
        .data("audit_session_start", json!({ "intent": "share a file", "session_id": SESSION }));
    let start = Arc::new(Barrier::new(processes));
    let calls = options.calls;
    let workers: Vec<_> = (0..processes)
        .map(|process| {
            let (mut server, start) = (launch(&folder).start(), start.clone());
            std::thread::spawn(move || {
                server.data("task_list", json!({ "limit": 1 }));
                start.wait();
                let mut done = work(&mut server, process, calls, window);
                let ended = server.finish();
                let complaints = ended.stderr.lines().filter(|line| is_complaint(line));
                done.errors.extend(complaints.map(str::to_owned));
                if ended.code() != 0 {
                    done.errors.push(format!("a server ended with {}", ended.code()));
                }
                done
            })
        })
        .collect();
    let mut done: Vec<Done> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    let (total, fairness) = rates(&done, calls);
    let mut errors: Vec<String> = done.iter_mut().flat_map(|one| one.errors.drain(..)).collect();
    errors.extend(check(&folder, done.iter_mut().flat_map(|one| one.acknowledged.drain(..)).collect()));
    Measured { total, fairness, waits: done.into_iter().flat_map(|one| one.waits).collect(), errors }
}

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder.clone())
        .env("COLIBRI_DURABILITY", "full")
}

fn is_complaint(line: &str) -> bool {
    line.contains(" ERROR ") || line.contains("locked") || line.contains("busy")
}

/// Keeps a window of calls under way until all are answered.
fn work(server: &mut Server, process: usize, calls: usize, window: usize) -> Done {
    let mut done = Done::default();
    let mut under_way = HashMap::new();
    let mut sent = 0;
    while sent < calls || !under_way.is_empty() {
        while sent < calls && under_way.len() < window {
            let title = format!("process {process} call {sent}");
            let (tool, arguments) = call(process, sent, &title);
            let at = Instant::now();
            under_way.insert(server.send_call(tool, arguments), (at, title));
            sent += 1;
        }
        let answer = server.receive();
        let now = Instant::now();
        let (at, title) = under_way.remove(&answer["id"].as_u64().unwrap()).expect("one answer a call");
        done.at.push(now);
        done.waits.push(now - at);
        let envelope = &answer["result"]["structuredContent"];
        if envelope["ok"] == json!(true) && envelope["data"]["ok"] != json!(false) {
            done.acknowledged.push(title);
        } else {
            done.errors.push(format!("{title}: {answer}"));
        }
    }
    done
}

/// Returns the call with that number: a task or a thought.
fn call(process: usize, number: usize, title: &str) -> (&'static str, Value) {
    if number.is_multiple_of(2) {
        return ("task_create", json!({ "title": title }));
    }
    let arguments = json!({
        "type": "analysis", "task_id": format!("chain-{}", number / 2 % CHAINS),
        "agent_id": format!("agent-{process}"), "content": title, "session_id": SESSION,
    });
    ("thought_record", arguments)
}

/// The rate of all together and the fairness, in the time in which all were at work.
fn rates(done: &[Done], calls: usize) -> (f64, f64) {
    let begin = done.iter().map(|one| one.at[calls / 10]).max().unwrap();
    let end = done.iter().map(|one| one.at[calls - 1]).min().unwrap();
    let within = |one: &Done| one.at.iter().filter(|at| (begin..end).contains(at)).count() as f64;
    let counts: Vec<f64> = done.iter().map(within).collect();
    let slowest = counts.iter().copied().fold(f64::INFINITY, f64::min);
    let fastest = counts.iter().copied().fold(0.0, f64::max);
    let seconds = end.saturating_duration_since(begin).as_secs_f64();
    // The servers never worked at the same time: one was done before another was warm.
    if fastest == 0.0 { (0.0, 0.0) } else { (counts.iter().sum::<f64>() / seconds, slowest / fastest) }
}

/// What the database lacks: every acknowledged call must be there once and nothing else, log and chains must be whole.
fn check(folder: &TempDir, mut acknowledged: Vec<String>) -> Vec<String> {
    let database = folder.path().join("colibri.db");
    let conn = engine::open(&database);
    let mut stored: Vec<String> = conn
        .prepare("SELECT title FROM tasks UNION ALL SELECT content FROM thought_records")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    stored.sort();
    acknowledged.sort();
    let mut found = Vec::new();
    if stored != acknowledged {
        let lost = acknowledged.iter().filter(|title| stored.binary_search(title).is_err()).count();
        let twice = stored.windows(2).filter(|pair| pair[0] == pair[1]).count();
        found.push(format!(
            "{} calls acknowledged, {} rows stored: {lost} lost, {twice} twice",
            acknowledged.len(),
            stored.len()
        ));
    }
    if std::panic::catch_unwind(|| assert_log_is_sound(&engine::open(&database))).is_err() {
        found.push("the log's chain is broken".to_owned());
    }
    let verify = Command::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .args(["verify", "--db"])
        .arg(&database)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if !verify.status.success() {
        found.push(format!("colibri verify: {}", String::from_utf8_lossy(&verify.stdout)));
    }
    found
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
