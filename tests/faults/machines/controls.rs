//! Controls, which must lose: calls without the mark, and an old copy of the data. The judge sees it, and so does every server that has
//! acknowledged the calls (postgres#witness).

use std::path::{Path, PathBuf};
use std::process::Command;

use colibri_test_support::dice::Dice;
use colibri_test_support::postgres::{Cluster, Stop};
use colibri_test_support::sql::Connection;
use tempfile::TempDir;

use super::agent::{Agent, Deed};
use super::judge::judge;
use super::world::{Target, World};

pub const LOST: &str = "the database has lost acknowledged calls";
/// Calls of an agent before something is lost.
const CALLS: usize = 20;

fn agents(world: &World, database: &str, variables: &[(&'static str, &str)]) -> Vec<Agent> {
    let target = Target::of(world, database, world.cluster.port());
    let target = variables.iter().fold(target, |target, (name, value)| target.with(name, value));
    (0..3)
        .map(|number| Agent::new(format!("control-{number}"), Dice::new(number), target.clone(), 4))
        .collect()
}

fn load(agent: &mut Agent) {
    for _ in 0..CALLS {
        agent.ask(Deed::Create);
    }
    agent.settle();
}

/// The server that runs now notices the loss at its next call, says so and ends.
fn assert_notices(agent: &mut Agent) {
    let before = agent.ended.len();
    agent.ask(Deed::Create);
    agent.settle();
    while agent.ended.len() == before {
        agent.hear();
    }
    let ended = &agent.ended[before];
    assert!(ended.stderr.contains(LOST) && ended.status.code() != Some(0), "{}", ended.stderr);
}

#[test]
fn machines_07_without_the_mark_a_server_that_stops_at_once_loses_acknowledged_calls_and_all_notice() {
    // The server's own writer would save most of them.
    let Some(mut world) = World::new("wal_writer_delay = 10s\nwal_writer_flush_after = 1GB") else { return };
    let database = world.database();
    let mut agents = agents(&world, &database, &[("COLIBRI_DURABILITY", "normal")]);
    // Each start waits for the disk once, and so saves the calls before it.
    agents.iter_mut().for_each(Agent::warm_up);
    for _ in 0..CALLS {
        for agent in &mut agents {
            agent.ask(Deed::Create);
            agent.settle();
        }
    }
    world.cluster.stop(Stop::Immediate);
    world.cluster.start();
    // The system keeps the pages of the write-ahead log that were full, so that not all have lost a call.
    let conn = Connection::in_cluster(&world.cluster, &database);
    let mut lost = 0;
    for agent in &mut agents {
        let missing = agent.told.iter().filter(|call| !is_there(&conn, &call.id)).count();
        lost += missing;
        match missing {
            0 => load(agent),
            _ => assert_notices(agent),
        }
        agent.finish();
    }
    assert!(lost > 0, "without the mark a server that stops at once loses no call");
    let told: Vec<_> = agents.iter().flat_map(|agent| agent.told.clone()).collect();
    let tally = judge(&world, &database, &told);
    let seen =
        tally.wrong.iter().filter(|wrong| wrong.starts_with("it was acknowledged, and is lost")).count();
    assert!(seen >= lost, "the judge misses losses: {:#?}", tally.wrong);
}

fn is_there(conn: &Connection, title: &str) -> bool {
    let sql = "SELECT count(*) FROM tasks WHERE title = ?1";
    conn.query_row(sql, [title], |row| row.get::<_, i64>(0)).unwrap() == 1
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp starts").success());
}

/// Puts an old copy in the place of the data of a cluster that is stopped.
fn restore(cluster: &Cluster, old: &Path) {
    std::fs::remove_dir_all(cluster.data()).expect("the data is ours");
    std::fs::rename(old, cluster.data()).expect("the copy is ours");
}

#[test]
fn machines_07_an_old_copy_of_the_data_is_noticed_by_all_who_saw_the_calls_and_after_a_restart_with_a_witness()
 {
    let Some(mut world) = World::new("") else { return };
    let (database, witness) = (world.database(), TempDir::new().unwrap());
    let mut saw = agents(&world, &database, &[]);
    let folder = witness.path().to_str().unwrap();
    let mut remembers = agents(&world, &database, &[("COLIBRI_WITNESS_DIR", folder)]).remove(0);
    let mut idle = agents(&world, &database, &[]).remove(0);
    for agent in saw.iter_mut().chain([&mut remembers, &mut idle]) {
        load(agent);
    }
    world.cluster.stop(Stop::Fast);
    let old: PathBuf = world.cluster.data().with_extension("old");
    copy(world.cluster.data(), &old);
    world.cluster.start();
    for agent in saw.iter_mut().chain([&mut remembers]) {
        load(agent);
    }
    remembers.finish();
    world.cluster.stop(Stop::Fast);
    restore(&world.cluster, &old);
    world.cluster.start();
    saw.iter_mut().for_each(assert_notices);
    // It starts anew, knows the calls from its file, and refuses to start.
    assert_notices(&mut remembers);
    // All that this one has seen is there.
    load(&mut idle);
    idle.finish();
    assert_eq!(idle.ended[0].status.code(), Some(0), "{}", idle.ended[0].stderr);
    let told: Vec<_> = saw.iter().flat_map(|agent| agent.told.clone()).collect();
    let tally = judge(&world, &database, &told);
    assert!(tally.wrong.len() >= saw.len() * CALLS, "the judge misses losses: {:#?}", tally.wrong);
}
