//! What the leaderboard costs beside the least it could cost: reading the same rows by the same index.
//!
//!     cargo bench -p colibri-tests --bench leaderboard -- [ROWS]
//!
//! Puts ROWS standings (default 1,000,000) into a database for each of three states of a domain, and asks the real server
//! for the best 100 and 1,000, five rounds in turn with the bare reading of as many rows as the walk has to see. Prints the
//! medians, their ratio, and the server's peak memory; then what 10,000 decays in one batch take (reputation#decay).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use colibri::domains::reputation::decay::apply_decay;
use colibri::domains::reputation::domain::DOMAINS;
use colibri::domains::reputation::standing::Standing;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

const ROUNDS: usize = 5;
/// The epoch that is asked about.
const EPOCH: i64 = 1000;

/// A state of the domain: how scores and last activities lie, and whether the walk must see every row.
struct State {
    name: &'static str,
    domain: &'static str,
    score: &'static str,
    last: &'static str,
    whole: bool,
}

/// `n` counts the rows; the products scatter it.
const STATES: [State; 3] = [
    State {
        name: "usual: all active now, the best batch is enough",
        domain: "execution",
        score: "(n * 7919) % 10001",
        last: "1000",
        whole: false,
    },
    State {
        name: "worst: nobody active for long, every row is decayed",
        domain: "social",
        score: "(n * 7919) % 10001",
        last: "n % 400",
        whole: true,
    },
    State {
        name: "worst in execution: high scores have faded, the best is the last row",
        domain: "execution",
        score: "CASE n WHEN 1 THEN 50 ELSE 1000 + (n * 7919) % 9001 END",
        last: "CASE n WHEN 1 THEN 1000 ELSE n % 500 END",
        whole: true,
    },
];

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<i64>().ok());
    let rows = numbers.next().unwrap_or(1_000_000);
    for state in &STATES {
        measure(state, rows);
    }
    batch();
}

fn measure(state: &State, rows: i64) {
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    let mut server = launch.start();
    server.data("task_list", json!({}));
    fill(&server.database(), state, rows);
    let idle = peak(&server);
    println!("{} ({rows} rows)", state.name);
    for limit in [100, 1000] {
        let seen = if state.whole { rows } else { limit };
        let (mut board, mut bare, mut ping) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bare.push(read(&server.database(), state.domain, seen));
            let arguments = json!({ "domain": state.domain, "current_epoch": EPOCH, "limit": limit });
            let began = Instant::now();
            let data = server.data("reputation_leaderboard", arguments);
            board.push(began.elapsed());
            assert_eq!(data["rows"].as_array().unwrap().len(), usize::try_from(limit.min(rows)).unwrap());
            let began = Instant::now();
            server.request("ping", json!({}));
            ping.push(began.elapsed());
        }
        let (board, bare) = (median(&mut board), median(&mut bare));
        println!(
            "  best {limit}: {board:.2?}, bare reading of {seen} rows {bare:.2?}, ratio {:.2}; ping {:.2?}; peak {} (before: {idle})",
            board.as_secs_f64() / bare.as_secs_f64(),
            median(&mut ping),
            peak(&server),
        );
    }
}

/// Puts the rows beside a running server, as fast as SQLite takes them.
fn fill(database: &Path, state: &State, rows: i64) {
    let sql = format!(
        "INSERT INTO reputations WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < {rows}) \
         SELECT printf('agent-%07d', n), '{}', {}, 0, NULL, {} FROM count",
        state.domain, state.score, state.last
    );
    let conn = engine::open(database);
    conn.execute_batch(&sql).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

/// Reads the first `rows` of the index: what no leaderboard can leave out.
fn read(database: &Path, domain: &str, rows: i64) -> Duration {
    let began = Instant::now();
    let conn = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let sql = "SELECT node_id, domain, score, scar_bps, ban_until_epoch, last_activity_epoch FROM reputations \
               INDEXED BY idx_reputations_leaderboard WHERE domain = ?1 ORDER BY score DESC, node_id LIMIT ?2";
    let mut statement = conn.prepare(sql).unwrap();
    let mut found = statement.query((domain, rows)).unwrap();
    let mut sum = 0_u64;
    while let Some(row) = found.next().unwrap() {
        for column in 0..6 {
            sum = sum.wrapping_add(match row.get_ref(column).unwrap() {
                ValueRef::Text(bytes) => bytes.len() as u64,
                ValueRef::Integer(number) => number.cast_unsigned(),
                _ => 0,
            });
        }
    }
    std::hint::black_box(sum);
    began.elapsed()
}

/// The most memory the server has had so far, as the kernel tells it.
fn peak(server: &Server) -> String {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}

/// Ten thousand rows of all domains, as long idle as matters.
fn batch() {
    let rows: Vec<Standing> = (0..10_000)
        .map(|number: i64| Standing {
            node_id: format!("agent-{number}"),
            domain: DOMAINS[usize::try_from(number).unwrap() % DOMAINS.len()],
            score: number,
            scar_bps: 0,
            ban_until_epoch: None,
            last_activity_epoch: 0,
        })
        .collect();
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            rows.iter().for_each(|row| drop(std::hint::black_box(apply_decay(row, 10_000).unwrap())));
            began.elapsed()
        })
        .collect();
    println!(
        "10000 rows decayed over 10000 epochs in one batch: {:.2?} (reputation#decay: under 50 ms)",
        median(&mut took)
    );
}

fn median(values: &mut [Duration]) -> Duration {
    values.sort();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
