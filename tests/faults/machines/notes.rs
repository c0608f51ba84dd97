//! Several servers of one machine share the folder of the local note, on two boards, and some of them are killed (postgres#witness).
//!
//! `COLIBRI_NOTE_RUNS` says how many runs, `COLIBRI_NOTE_SEED` which seed comes first.

use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE, Server};
use colibri_test_support::dice::Dice;
use colibri_test_support::postgres::{Database, Role};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::world::PROGRAM;

/// How many runs there are without the variable.
const RUNS: u64 = 3;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

/// The records of the note: a board's database and the number of its last acknowledged call.
fn noted(folder: &TempDir) -> Vec<(String, i64)> {
    let text = std::fs::read_to_string(folder.path().join("colibri-witness.json")).expect("a note");
    let record = |line: &str| {
        let note: Value = serde_json::from_str(line).expect("a record");
        (note["database"].as_str().expect("a name").to_owned(), note["exit_no"].as_i64().expect("a number"))
    };
    text.lines().map(record).collect()
}

/// Works for a while; returns the tasks that were acknowledged. A server that is to be killed dies in the middle of a call.
fn work(mut server: Server, until: Instant, killed: bool) -> Vec<String> {
    let mut acknowledged = Vec::new();
    while Instant::now() < until {
        let task = server.data("task_create", json!({ "title": "noted" }));
        acknowledged.push(task["id"].as_str().expect("an id").to_owned());
    }
    if killed {
        server.send_call("task_create", json!({ "title": "perhaps" }));
        server.kill();
    } else {
        assert_eq!(server.finish().code(), 0);
    }
    acknowledged
}

#[test]
fn servers_that_share_a_note_never_set_it_back() {
    let (runs, seed) = (number("COLIBRI_NOTE_RUNS", RUNS), number("COLIBRI_NOTE_SEED", 1));
    let Some(boards) = Database::new().zip(Database::new()) else { return };
    let boards = [boards.0, boards.1];
    for seed in seed..seed + runs {
        let dice = Dice::new(seed);
        let folder = Arc::new(TempDir::new().expect("a folder"));
        let length = Duration::from_millis(100 + dice.below(400));
        let servers: Vec<(usize, bool, Server)> = (0..2 + dice.below(4))
            .map(|place| {
                let board = usize::try_from(place % 2).expect("small");
                let launch = Launch::new(PROGRAM).env("COLIBRI_DATABASE_URL", boards[board].url(Role::App));
                let server = launch
                    .env("COLIBRI_WITNESS_DIR", folder.path())
                    .env("COLIBRI_LOG_LEVEL", "error")
                    .start();
                (board, dice.below(4) == 0, server)
            })
            .collect();
        let until = Instant::now() + length;
        let done: Vec<(usize, bool, Vec<String>)> = std::thread::scope(|scope| {
            let started: Vec<_> = servers
                .into_iter()
                .map(|(board, killed, server)| {
                    scope.spawn(move || (board, killed, work(server, until, killed)))
                })
                .collect();
            started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let notes = noted(&folder);
        for (at, board) in boards.iter().enumerate() {
            let of_board = || done.iter().filter(|(board, ..)| *board == at);
            let acknowledged: Vec<&str> =
                of_board().flat_map(|(_, _, tasks)| tasks.iter().map(String::as_str)).collect();
            if acknowledged.is_empty() {
                continue;
            }
            let noted = notes.iter().find(|(name, _)| name == board.name()).map(|(_, number)| *number);
            let mut client = board.client(Role::Superuser);
            let last = |client: &mut postgres::Client, sql: &str| -> Option<i64> {
                client.query_one(sql, &[]).expect("a row").get(0)
            };
            let list = acknowledged.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ");
            let least = last(
                &mut client,
                &format!("SELECT max(exit_no) FROM colibri.exits WHERE subject IN ({list})"),
            );
            let most = last(&mut client, "SELECT max(exit_no) FROM colibri.exits");
            assert!(
                least.is_some() && noted >= least && noted <= most,
                "seed {seed}: {noted:?}, {least:?} to {most:?}"
            );
            if of_board().all(|(_, killed, _)| !killed) {
                assert_eq!(noted, most, "seed {seed}: all have ended in order");
            }
        }
        // The next start of each board finds what the note says.
        for board in &boards {
            let began = Instant::now();
            let launch = Launch::new(PROGRAM).env("COLIBRI_DATABASE_URL", board.url(Role::App));
            let mut next =
                launch.env("COLIBRI_WITNESS_DIR", folder.path()).env("COLIBRI_LOG_LEVEL", "error").start();
            next.data("task_list", json!({}));
            assert_eq!(next.finish().code(), 0);
            assert!(began.elapsed() < PATIENCE, "seed {seed}");
        }
    }
}
