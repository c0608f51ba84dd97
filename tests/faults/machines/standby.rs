//! Commands that read a standby while the primary writes (postgres#failover).

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use colibri_test_support::dice::Dice;
use colibri_test_support::postgres::{Pair, Replication, Role, Stop};
use colibri_test_support::shell::Shell;
use colibri_test_support::sql::Connection;

use super::agent::{Agent, Stops};
use super::proxy::{Fault, Plan, Proxy, Way};
use super::world::{PLANTED, PROGRAM, SESSION, Target, World};

/// How often each command reads.
const ROUNDS: usize = 4;
/// Long enough for a standby to hear of rows that are gone.
const MEANWHILE: Duration = Duration::from_secs(4);

/// A pair whose standby follows by itself, with a planted database.
fn pair(settings: &str) -> Option<Pair> {
    let mut world = World::new("")?;
    world.cluster.stop(Stop::Fast);
    let primary = world.cluster.copy();
    primary.configure(settings);
    Some(Pair::of(primary, Replication::Asynchronous, |port| port))
}

/// Waits until the standby has all that the primary has written.
pub fn catch_up(pair: &Pair) {
    let one = |sql: &str, at: &Connection| at.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let (primary, standby) =
        (Connection::in_cluster(&pair.primary, PLANTED), Connection::in_cluster(&pair.standby, PLANTED));
    let written = one("SELECT CAST(pg_current_wal_insert_lsn() AS text)", &primary);
    let replayed = format!("SELECT CAST(pg_last_wal_replay_lsn() >= CAST('{written}' AS pg_lsn) AS text)");
    while one(&replayed, &standby) != "true" {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn machines_15_verify_and_the_other_readers_find_a_standby_sound_while_the_primary_writes() {
    // A busy machine may read for longer than the standby waits by default.
    let Some(pair) = pair("max_standby_streaming_delay = -1") else { return };
    let target = Target::at(pair.primary.url(Role::App, PLANTED));
    let mut agents: Vec<Agent> = (0..2)
        .map(|number| Agent::new(format!("writer-{number}"), Dice::new(number), target.clone(), 4))
        .collect();
    // Otherwise the log of a busy machine grows as fast as it is read.
    agents.iter_mut().for_each(|agent| agent.rest = Duration::from_millis(100));
    let (stop, shell) = (AtomicBool::new(false), Shell::new(PROGRAM));
    let url = pair.standby.url(Role::Read, PLANTED);
    let read = |arguments: &[&str]| {
        let variables = [("COLIBRI_DATABASE_URL", url.as_str()), ("COLIBRI_MODE", "READONLY")];
        shell.run_with(&variables, arguments).ends(0)
    };
    let mut calls = Vec::new();
    std::thread::scope(|scope| {
        for agent in &mut agents {
            scope.spawn(|| agent.work(&stop));
        }
        let _stops = Stops(&stop);
        for round in 0..ROUNDS {
            let named = |name: &str| format!("{name}-{round}");
            let [page, file, checkpoint] = ["page.html", "copy.db", "checkpoint"].map(named);
            calls.push(read(&["verify", "--json", "--write-checkpoint", &checkpoint]).json());
            // Each checkpoint holds for all that the standby shows later.
            read(&["verify", "--checkpoint", "checkpoint-0"]);
            read(&["log", "--limit", "50"]);
            read(&["export", SESSION]);
            read(&["report", SESSION, "--html", &page]);
            read(&["doctor"]);
            read(&["backup", &file]);
            shell.run(&["verify", "--db", &file, "--checkpoint", &checkpoint]).ends(0);
        }
    });
    for report in &calls {
        assert_eq!(report["sound"], true, "{report:#}");
    }
    let last = |report: &serde_json::Value| report["log"]["last_exit_no"].as_i64();
    assert!(last(&calls[0]) < last(&calls[ROUNDS - 1]), "the standby stands still");
    catch_up(&pair);
    shell
        .run(&["verify", "--db", &pair.primary.url(Role::Read, PLANTED), "--write-checkpoint", "last"])
        .ends(0);
    read(&["verify", "--checkpoint", "last"]);
}

#[test]
fn a_reader_that_a_standby_gets_rid_of_says_what_to_do() {
    let Some(pair) = pair("max_standby_streaming_delay = 0") else { return };
    let (proxy, shell) = (Proxy::start(pair.standby.port()), Shell::new(PROGRAM));
    let port = format!(":{}/", pair.standby.port());
    let url = pair.standby.url(Role::Read, PLANTED).replace(&port, &format!(":{}/", proxy.port()));
    let variables = [("COLIBRI_DATABASE_URL", url.as_str())];
    for command in ["verify", "log"] {
        proxy.script(Vec::new());
        shell.run_with(&variables, &[command]).ends(0);
        // In the midst of its one transaction, and well behind its begin.
        let at = proxy.passed(Way::Up).len() * 3 / 4;
        proxy.script(vec![Plan { way: Way::Up, at, fault: Fault::Delay(MEANWHILE) }]);
        let run = std::thread::scope(|scope| {
            let reader = scope.spawn(|| shell.run_with(&variables, &[command]));
            while proxy.done() == 0 {
                assert!(!reader.is_finished(), "the reader does not get so far");
                std::thread::sleep(Duration::from_millis(1));
            }
            let conn = Connection::in_cluster(&pair.primary, PLANTED);
            conn.execute_batch("UPDATE tasks SET title = title || '.'").unwrap();
            conn.execute_batch("VACUUM tasks").unwrap();
            reader.join().unwrap()
        });
        assert_ne!(run.code, Some(0), "{}", run.out);
        assert!(run.err.contains("hot_standby_feedback"), "{} {}", run.out, run.err);
    }
}
