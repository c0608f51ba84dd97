//! The logical clock of reputation#epochs, as the server keeps it.

use colibri::domains::reputation::epoch::{fixed_length, present_epoch};
use colibri::domains::reputation::event::Acker;
use colibri_test_support::sqlite_only;
use serde_json::json;

use crate::reputation::world::{RECORDING, World, launch};

#[test]
fn the_first_event_fixes_the_length_of_an_epoch() {
    let launch_with = |seconds: &str| launch().env("COLIBRI_EPOCH_SECONDS", seconds);
    let mut world = World::around(launch_with("31536000").start());
    assert_eq!(world.counts(), [0; 6]);
    world.finished(Some("alice"), &[("alice", "plan")]);
    assert_eq!(fixed_length(world.db()), Ok(Some(31_536_000)));
    // Years since 1970, of 365 days.
    let epoch = world.events_of("alice")[0]["epoch"].as_i64().unwrap();
    assert!((55..200).contains(&epoch), "{epoch}");
    let folder = world.folder();

    let mut other = World::around(launch_with("60").in_folder(folder).start());
    other.finished(Some("alice"), &[("alice", "plan")]);
    assert_eq!(other.events_of("alice")[0]["epoch"], epoch);
    let folder = other.server.shared_folder();
    let ended = other.server.finish();
    let warnings = ended.warnings();
    assert_eq!(warnings.len(), 1, "{}", ended.stderr);
    let text = "COLIBRI_EPOCH_SECONDS=60 is ignored: the reputations of this database count epochs of 31536000 seconds \
                since their first event; set COLIBRI_EPOCH_SECONDS to 31536000";
    assert!(warnings[0].contains(text), "{}", warnings[0]);

    let mut same = launch_with("31536000").in_folder(folder).start();
    same.data("task_list", json!({}));
    assert_eq!(same.finish().warnings(), [] as [&str; 0]);
}

#[test]
fn reputation_never_goes_back() {
    let mut world = World::new();
    assert_eq!(present_epoch(world.db(), 86_400, 5 * 86_400_000), Ok(5));
    world.gain("bob", (100, Acker::System { weight_bps: 10_000 }), 30_000);
    world.gain("carol", (100, Acker::System { weight_bps: 10_000 }), 20_000);
    assert_eq!(present_epoch(world.db(), 86_400, RECORDING.now_ms), Ok(30_000));
    // What is not in the ledger does not count.
    world.remember("eve", "execution", 90_000, 1);
    assert_eq!(present_epoch(world.db(), 86_400, RECORDING.now_ms), Ok(30_000));
    assert_eq!(present_epoch(world.db(), 86_400, 30_001 * 86_400_000), Ok(30_001));
    world.finished(Some("alice"), &[("alice", "plan")]);
    assert_eq!(world.events_of("alice")[0]["epoch"], 30_000);
}

#[test]
fn finding_the_highest_epoch_and_the_sums_of_one_takes_an_index() {
    sqlite_only!("it reads the plans of SQLite");
    let mut world = World::new();
    world.gain("alice", (100, Acker::System { weight_bps: 10_000 }), 9);
    for (sql, index) in [
        (
            "SELECT epoch FROM reputation_history INDEXED BY idx_history_epoch WHERE EXISTS \
             (SELECT 1 FROM reputation_ledger WHERE history_id = reputation_history.id) ORDER BY epoch DESC LIMIT 1",
            "USING COVERING INDEX idx_history_epoch",
        ),
        (
            "SELECT sum(delta) FROM reputation_history INDEXED BY idx_history_moves WHERE node_id = 'n' AND domain = 'd' \
             AND epoch = 1 AND delta <> 0 AND EXISTS (SELECT 1 FROM reputation_ledger \
             WHERE history_id = reputation_history.id AND kind = 'gain')",
            "USING COVERING INDEX idx_history_moves (node_id=? AND domain=? AND epoch=?)",
        ),
        (
            "SELECT node_id, domain, score, scar_bps, ban_until_epoch, last_activity_epoch FROM reputations \
             INDEXED BY idx_reputations_leaderboard WHERE domain = 'd' ORDER BY score DESC, node_id",
            "USING COVERING INDEX idx_reputations_leaderboard (domain=?)",
        ),
    ] {
        let mut statement = world.sql.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: Vec<String> =
            statement.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        assert!(plan[0].contains(index), "{plan:?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
    }
}
