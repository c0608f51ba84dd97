//! Many calls on their way when a process is killed, or in two processes at once. `consensus_restart`
//! has what can be shown call by call.

use std::sync::Arc;

use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::sql::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::consensus::world::{R, V, World, event, launch, vote};

/// A fixed node on a folder that another one has left.
fn again(folder: &Arc<TempDir>) -> Launch {
    let key = folder.path().join("node.key");
    launch().in_folder(folder.clone()).env("COLIBRI_CONSENSUS_KEY_FILE", key)
}

/// The logical times of all votes, in the order in which they were stored.
fn times(sql: &Connection) -> Vec<i64> {
    let mut statement =
        sql.prepare("SELECT timestamp_logical FROM mcp_consensus_votes ORDER BY seq").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// A stored vote and what follows from it are there together, whenever the process was killed.
#[test]
fn a_kill_leaves_no_half_of_a_vote() {
    let mut world = World::new();
    let folder = world.server.shared_folder();
    let mut acknowledged = Vec::new();
    for kill in 0..6_u64 {
        for _ in 0..20 {
            world.server.send_call("consensus_propose", event(R, V));
        }
        let first = envelope(&world.server.receive())["data"]["round_id"].as_str().unwrap().to_owned();
        acknowledged.push(first.clone());
        for _ in 0..20 {
            world.server.send_call("consensus_vote", vote(&first, R, "ACCEPT"));
        }
        let more = (0..kill * 5).map(|_| envelope(&world.server.receive()));
        let more = more.filter_map(|envelope| Some(envelope["data"]["round_id"].as_str()?.to_owned()));
        acknowledged.extend(more.collect::<Vec<_>>());
        drop(world.sql);
        world.server.kill();
        world = World::around(again(&folder).start());
    }
    for round_id in &acknowledged {
        assert!(["QUORUM", "HARD"].contains(&world.level(round_id).as_str()));
    }
    let rounds = world.number("SELECT count(*) FROM mcp_consensus_rounds");
    assert!(rounds >= i64::try_from(acknowledged.len()).unwrap());
    for round_id in 1..=world.number("SELECT max(round_id) FROM mcp_consensus_rounds") {
        world.level(&round_id.to_string());
    }
    let strays = "SELECT (SELECT count(*) FROM mcp_consensus_transitions) - 2 * (SELECT count(*) FROM mcp_consensus_rounds) \
                  - (SELECT count(*) FROM mcp_consensus_rounds WHERE level = 'HARD')";
    assert_eq!(world.number(strays), 0, "two transitions a proposal, one more a vote");
}

#[test]
fn two_processes_at_once_never_sign_one_time_twice() {
    let mut one = World::new();
    let key = one.server.folder().join("node.key");
    let launch = launch().beside(&one.server).env("COLIBRI_CONSENSUS_KEY_FILE", key);
    let mut other = World::around(launch.start());
    let send = |server: &mut Server| {
        for _ in 0..60 {
            server.send_call("consensus_propose", event(R, V));
        }
    };
    send(&mut one.server);
    send(&mut other.server);
    let mut ids: Vec<u64> = Vec::new();
    for server in [&mut one.server, &mut other.server] {
        let id =
            |reply: Value| envelope(&reply)["data"]["round_id"].as_str().unwrap().parse::<u64>().unwrap();
        ids.extend((0..60).map(|_| id(server.receive())));
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=120).collect::<Vec<_>>(), "every proposal has a round of its own");
    let times = times(&one.sql);
    assert!(times.len() == 120 && times.is_sorted_by(|a, b| a < b), "{times:?}");
    for id in [1, 60, 120] {
        assert_eq!(one.level(&id.to_string()), other.level(&id.to_string()));
    }
}
