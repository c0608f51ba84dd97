//! Three servers of ours under load while Patroni fails over: the leader is killed, with its Patroni and without, and an operator switches
//! over (postgres#failover). `.ci/failover` runs it; `COLIBRI_MACHINE_RUNS` says how many rounds of four failovers.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use colibri_test_support::dice::Dice;
use colibri_test_support::shell::Shell;
use colibri_test_support::sql::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::agent::{Agent, Deed, Stops};
use super::campaign::number;
use super::ensemble::Ensemble;
use super::judge::judge_at;
use super::world::{PROGRAM, SESSION, Target, launch};

const AGENTS: usize = 3;
const DATABASE: &str = "board";
/// Calls wait so long for a server that takes writes: longer than Patroni takes on a busy machine.
const PATIENCE_MS: u64 = 50_000;
/// The servers work so long between two failovers.
const LOAD: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum Failover {
    /// An operator has another node lead.
    SwitchedOver,
    /// The leader's server is killed, and its Patroni sees it.
    ServerKilled,
    /// Its Patroni is killed, too, so that the others wait until its lease ends.
    NodeKilled,
}

const ROUND: [Failover; 4] =
    [Failover::SwitchedOver, Failover::NodeKilled, Failover::ServerKilled, Failover::SwitchedOver];

/// Makes the database as an operator does.
fn set_up(ensemble: &Ensemble, leader: usize) {
    let conn = Connection::at_url(&ensemble.superuser_url(leader, "postgres"));
    conn.execute_batch(&format!("CREATE DATABASE {DATABASE}")).unwrap();
    let (shell, url) = (Shell::new(PROGRAM), ensemble.superuser_url(leader, DATABASE));
    let variables = [("COLIBRI_DATABASE_URL", url.as_str())];
    shell.run_with(&variables, &["postgres", "setup"]).ends(0);
    shell.run_with(&variables, &["postgres", "migrate"]).ends(0);
    let password = ensemble.password();
    conn.execute_batch(&format!("CREATE ROLE agent LOGIN PASSWORD '{password}' IN ROLE colibri_app"))
        .unwrap();
    // A standby that does not know a user yet refuses the login.
    let known = "SELECT count(*) FROM pg_roles WHERE rolname = 'agent'";
    for node in 0..ensemble.nodes() {
        let conn = Connection::at_url(&ensemble.superuser_url(node, "postgres"));
        while conn.query_row(known, [], |row| row.get::<_, i64>(0)).unwrap() == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn fail_over(ensemble: &mut Ensemble, how: &Failover) {
    let leader = ensemble.settle();
    std::thread::sleep(LOAD);
    let began = Instant::now();
    match how {
        Failover::SwitchedOver => ensemble.switch_over(leader),
        Failover::ServerKilled => ensemble.kill(leader, false),
        Failover::NodeKilled => ensemble.kill(leader, true),
    }
    let next = loop {
        match ensemble.leader() {
            Some(next) if next != leader => break next,
            _ => std::thread::sleep(Duration::from_millis(100)),
        }
        assert!(began.elapsed() < Duration::from_secs(120), "no other node leads: {}", ensemble.logs());
    };
    println!("{how:?}: n{} leads after {:.1} s", next + 1, began.elapsed().as_secs_f64());
    if matches!(how, Failover::NodeKilled) {
        ensemble.restart(leader);
    }
}

#[test]
fn machines_08_failovers_by_patroni_lose_no_call() {
    let Some(mut ensemble) = Ensemble::start() else { return };
    let leader = ensemble.settle();
    set_up(&ensemble, leader);
    let target = Target::at(ensemble.url("agent", DATABASE))
        .with("COLIBRI_DURABILITY", "replicated")
        .with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", PATIENCE_MS);
    let mut first = launch(&target, &Arc::new(TempDir::new().unwrap())).start();
    first.data("audit_session_start", json!({ "intent": "share", "session_id": SESSION }));
    assert_eq!(first.finish().code(), 0);

    let mut agents: Vec<Agent> = [1, 4, 16]
        .map(|window| Agent::new(format!("agent-{window}"), Dice::new(window as u64), target.clone(), window))
        .into();
    let (stop, warm) = (AtomicBool::new(false), Barrier::new(AGENTS + 1));
    let rounds = number("COLIBRI_MACHINE_RUNS").unwrap_or(1);
    std::thread::scope(|scope| {
        for agent in &mut agents {
            scope.spawn(|| {
                agent.warm_up();
                warm.wait();
                agent.work_on(&stop);
                agent.ask(Deed::Create);
                agent.finish();
            });
        }
        warm.wait();
        let _stops = Stops(&stop);
        for how in (0..rounds).flat_map(|_| &ROUND) {
            fail_over(&mut ensemble, how);
        }
        ensemble.settle();
        std::thread::sleep(LOAD);
    });
    let told: Vec<_> = agents.iter().flat_map(|agent| agent.told.clone()).collect();
    let conn = Connection::at_url(&ensemble.superuser_url(ensemble.settle(), DATABASE));
    let tally = judge_at(&target, &conn, &told);
    println!("{} failovers: {tally:#?}", rounds as usize * ROUND.len());
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert!(tally.acknowledged > 100, "hardly anything was acknowledged");
    for ended in agents.iter().flat_map(|agent| &agent.ended) {
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    }
}
