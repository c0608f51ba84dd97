//! Claims while clocks jump, processes are killed and processes are frozen, all at once (tasks#claims). Eight agents, each with a
//! server and a clock of its own, share a few tasks and remember every claim they ever had.
//!
//! `COLIBRI_CLAIM_ROUNDS` says how many rounds, `COLIBRI_CLAIM_SEED` which comes first; 530 rounds make 100,000 claims.

#![allow(clippy::print_stdout)]

mod agent;
mod judge;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use colibri_test_support::client::Launch;
use colibri_test_support::dice::Dice;
use colibri_test_support::wall::Wall;
use serde_json::{Value, json};
use tempfile::TempDir;

use agent::{Agent, Told};
use judge::judge;

/// Agents, each in a thread.
const AGENTS: usize = 8;
/// Tasks that they share.
const TASKS: usize = 6;
/// Steps of each agent in a round.
const STEPS: usize = 100;
const ROUNDS: u64 = 2;

/// Whether updates carry the number of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Sent,
    /// The control: the server has only leases to go by.
    LeftOut,
}

/// What happened in a round.
#[derive(Debug, Default)]
struct Tally {
    claims: usize,
    changes: usize,
    taken_over: usize,
    refused: usize,
    kills: usize,
    freezes: usize,
    jumps: usize,
    /// Changes by an agent after another one had claimed the task.
    late: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.claims += other.claims;
        self.changes += other.changes;
        self.taken_over += other.taken_over;
        self.refused += other.refused;
        self.kills += other.kills;
        self.freezes += other.freezes;
        self.jumps += other.jumps;
        self.late.extend(other.late);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn launch(folder: &Arc<TempDir>, wall: &Wall) -> Launch {
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(folder.clone());
    wall.under(launch).env("COLIBRI_DURABILITY", "normal").env("COLIBRI_LOG_LEVEL", "error")
}

/// Lets the agents work on fresh tasks, and judges what they were told against what is stored.
fn round(seed: u64, numbers: Numbers) -> Tally {
    let folder = Arc::new(TempDir::new().unwrap());
    let wall = Wall::new(env!("COLIBRI_FILE_LAYER"));
    let mut server = launch(&folder, &wall).start();
    let tasks: Vec<String> = (0..TASKS)
        .map(|number| {
            let task = server.data("task_create", json!({ "title": format!("task {number}") }));
            task["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let dice = Dice::new(seed);
    // The time that passes for all: leases end because of it.
    let passed = Arc::new(AtomicI64::new(0));
    let agents: Vec<_> = (0..AGENTS)
        .map(|number| {
            let (folder, tasks, passed) = (folder.clone(), tasks.clone(), passed.clone());
            let dice = dice.stream(number as u64);
            std::thread::spawn(move || {
                let mut agent = Agent::start(number, folder, tasks, dice, numbers);
                for _ in 0..STEPS {
                    agent.step(&passed);
                }
                agent.told()
            })
        })
        .collect();
    let told: Vec<Told> = agents.into_iter().map(|agent| agent.join().unwrap()).collect();
    assert!(passed.load(Ordering::SeqCst) > 0);
    let verdict = launch(&folder, &wall).arg("verify").arg("--json").command().output().unwrap();
    let verdict: Value = serde_json::from_slice(&verdict.stdout).unwrap();
    assert_eq!(verdict["findings"], json!([]), "seed {seed}");
    judge(&server.sql(), told)
}

#[test]
fn the_newest_claim_alone_writes_whatever_clocks_and_processes_do() {
    let rounds = number("COLIBRI_CLAIM_ROUNDS").unwrap_or(ROUNDS);
    let first = number("COLIBRI_CLAIM_SEED").unwrap_or(0xC1A1_0000);
    let mut tally = Tally::default();
    for seed in first..first + rounds {
        let of_round = round(seed, Numbers::Sent);
        assert!(of_round.late.is_empty(), "seed {seed}: {:#?}", of_round.late);
        tally.add(of_round);
    }
    println!("{tally:?}");
    for seen in [tally.claims, tally.changes, tally.taken_over, tally.refused, tally.kills, tally.freezes] {
        assert!(seen > 0, "{tally:?}");
    }
}

/// The control, which must fail: leases alone keep no agent from writing too late.
#[test]
fn without_numbers_an_agent_writes_after_another_has_claimed() {
    let late = (0xC1A2_0000..0xC1A2_0000 + 20).find_map(|seed| {
        let tally = round(seed, Numbers::LeftOut);
        (!tally.late.is_empty()).then_some(tally.late)
    });
    println!("{:?}", late.expect("some agent writes too late"));
}
