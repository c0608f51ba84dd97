//! The logical clock as an operator reads it.

use colibri_test_support::engine;
use serde_json::json;

use super::world::{World, gain};

/// Seconds since the Unix epoch.
fn seconds() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

#[test]
fn the_epoch_is_the_clocks_before_there_is_a_database() {
    for (length, name) in [(86_400, None), (7, Some("7"))] {
        let world = match name {
            Some(text) => World::new().with("COLIBRI_EPOCH_SECONDS", text),
            None => World::new(),
        };
        let before = seconds() / length;
        let epoch = world.epoch();
        assert!((before..=seconds() / length).contains(&epoch), "{epoch}");
        assert!(
            engine::is_postgres() || !world.database().exists(),
            "asking for the epoch makes no database"
        );
    }
}

#[test]
fn the_first_event_fixes_the_length_and_another_is_warned_of() {
    let world = World::new();
    let now = world.epoch();
    world.import(&[gain("e1", "alice", "bob", 500, now)]).ends(0);
    let world = world.with("COLIBRI_EPOCH_SECONDS", "60");
    let run = world.reputation(&["epoch"]).ends(0);
    assert_eq!(run.out.trim_end(), now.to_string());
    let told = "colibri: COLIBRI_EPOCH_SECONDS=60 is ignored: the reputations of this database count epochs of 86400 \
                seconds since their first event; set COLIBRI_EPOCH_SECONDS to 86400\n";
    assert_eq!(run.err, told);
    // Under any configuration, the next event uses the same clock, and the ledger still fits it.
    world.import(&[gain("e2", "alice", "bob", 500, now)]).ends(0);
    assert_eq!(world.import(&[gain("e3", "alice", "bob", 500, now + 1)]).code, Some(2));
    world.run(&["verify"]).ends(0);
}

#[test]
fn the_epoch_never_goes_back() {
    // Shorter epochs first, whose numbers are higher than a day's.
    let world = World::new().with("COLIBRI_EPOCH_SECONDS", "1");
    let now = world.epoch();
    world.import(&[gain("e1", "alice", "bob", 500, now)]).ends(0);
    let other = world.path("other.db");
    engine::copy(world.database(), &other);
    assert!(world.epoch() >= now);
    let run = world.reputation(&["epoch", "--db", "nowhere.db"]).ends(2);
    assert!(run.err.contains("there is no database at nowhere.db"), "{}", run.err);
    let run = world.with("COLIBRI_EPOCH_SECONDS", "0").reputation(&["epoch"]).ends(2);
    assert!(run.err.contains("COLIBRI_EPOCH_SECONDS"), "{}", run.err);
}

#[test]
fn the_printed_epoch_is_what_the_tools_take() {
    let world = World::new();
    let mut server = world.server();
    server.data("task_list", json!({}));
    let now = world.epoch();
    world.import(&[gain("e1", "alice", "bob", 500, now)]).ends(0);
    let board =
        server.data("reputation_leaderboard", json!({ "domain": "social", "current_epoch": world.epoch() }));
    assert_eq!(board["rows"][0]["node_id"], "alice");
    assert_eq!(server.finish().code(), 0);
}
