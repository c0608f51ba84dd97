//! What verification says of reputation: the whole command, and its part by itself.

use colibri_test_support::engine;
use colibri_test_support::shell::Run;
use colibri_test_support::sqlite_only;
use serde_json::json;

use super::world::{World, gain, penalty};

/// A base with entries of every source, closed.
fn lived() -> World {
    let world = World::new();
    let mut server = world.server();
    server.data("audit_session_start", json!({ "session_id": "s-1", "intent": "work" }));
    for (task, reviewer) in [("one", None), ("two", Some("bob"))] {
        let made = server.data("task_create", json!({ "title": task, "assignee": "alice" }));
        for agent in ["alice"].into_iter().chain(reviewer) {
            let thought = json!({
                "type": "reflection", "task_id": made["id"], "agent_id": agent, "content": "seen", "session_id": "s-1",
            });
            server.data("thought_record", thought);
        }
        server.walk(&made["id"], "DONE");
    }
    server.data("merkle_finalize", json!({ "session_id": "s-1" }));
    let now = world.epoch();
    world
        .import(&[gain("e1", "alice", "bob", 500, now), penalty("e2", "mallory", "*", "fraud", now)])
        .ends(0);
    assert_eq!(server.finish().code(), 0);
    world
}

/// Changes rows with the guards off, and puts the guards back.
fn tamper(world: &World, sql: &str) {
    world.sql().tamper(sql);
}

/// Both commands, which must agree.
fn verify(world: &World, code: i32) -> (Run, Run) {
    (world.run(&["verify"]).ends(code), world.reputation(&["verify"]).ends(code))
}

#[test]
fn a_healthy_base_is_sound() {
    let world = lived();
    assert_eq!(world.count("reputation_ledger"), 10);
    let (whole, part) = verify(&world, 0);
    assert!(whole.out.contains("ok      reputation  standings: 8, entries: 10"), "{}", whole.out);
    assert!(part.out.contains("Sound: every standing follows from the ledger."), "{}", part.out);
    let json = world.reputation(&["verify", "--json"]).ends(0).json();
    assert_eq!(json["counts"]["entries"], 10);
    assert_eq!(json["counts"]["tokens"], 3);
    assert_eq!((&json["sound"], &json["warnings"]), (&json!(true), &json!([])));
}

#[test]
fn an_edited_score_is_named_with_node_and_domain() {
    let world = lived();
    tamper(&world, "UPDATE reputations SET score = score + 1 WHERE node_id = 'alice' AND domain = 'social'");
    let (whole, part) = verify(&world, 1);
    for run in [whole, part] {
        assert!(
            run.out.contains(
                "STANDING_CHANGED (1): the standing of alice/social does not follow from its last entry: score is"
            ),
            "{}",
            run.out
        );
    }
}

#[test]
fn an_edited_ledger_row_breaks_the_chain_at_its_number() {
    for (column, value) in [("weight_bps", "9999"), ("acker_id", "'eve'"), ("score_after", "7")] {
        let world = lived();
        tamper(&world, &format!("UPDATE reputation_ledger SET {column} = {value} WHERE history_id = 2"));
        let (whole, part) = verify(&world, 1);
        for run in [whole, part] {
            assert!(run.out.contains("ENTRY_CHANGED (1): entry 2, "), "{column}: {}", run.out);
            assert!(run.out.contains("first: reputation_ledger 2"), "{column}: {}", run.out);
        }
    }
}

#[test]
fn a_row_put_in_by_hand_is_a_warning() {
    let world = lived();
    world.sql().execute("INSERT INTO reputations VALUES ('zoe', 'social', 6000, 0, NULL, 1)", []).unwrap();
    let (whole, part) = verify(&world, 0);
    for run in [whole, part] {
        assert!(
            run.out.contains("UNLEDGERED (1): the standing of zoe/social has no entry in the ledger"),
            "{}",
            run.out
        );
    }
    let json = world.run(&["verify", "--json"]).ends(0).json();
    assert_eq!(json["warnings"][0]["code"], "UNLEDGERED");
    // Her word counts with what she was given; an entry about her would have to begin from nothing.
    let now = world.epoch();
    world.import(&[gain("e9", "walt", "zoe", 1000, now)]).ends(0);
    verify(&world, 0);
    world.import(&[gain("e10", "zoe", "alice", 1000, now)]).ends(0);
    let (whole, _) = verify(&world, 1);
    assert!(whole.out.contains("score_before is 6000, not 0"), "{}", whole.out);
}

#[test]
fn what_was_cut_from_the_end_is_missed() {
    sqlite_only!("it is about SQLite's counter of ids");
    let cut =
        "DELETE FROM reputation_ledger WHERE history_id = 10; DELETE FROM reputation_history WHERE id = 10;";
    let set_back = "DELETE FROM reputations WHERE node_id = 'mallory' AND domain = 'social';";
    let counter = "UPDATE sqlite_sequence SET seq = 9 WHERE name = 'reputation_history';";
    for (sql, expected) in [
        (cut.to_owned(), "SEQ_COUNTER"),
        (format!("{cut}{counter}"), "STANDING_CHANGED (1)"),
        // An import names its entries, so that even this is seen; of a task's or a session's only a checkpoint knows.
        (format!("{cut}{counter}{set_back}"), "ENTRIES_MISSING (1): of the entries 5 to 10, which call"),
    ] {
        let world = lived();
        tamper(&world, &sql);
        let (whole, part) = verify(&world, 1);
        let expected = if expected == "STANDING_CHANGED (1)" { "UNLEDGERED (1)" } else { expected };
        for run in [whole, part] {
            assert!(run.out.contains(expected), "{expected}: {}", run.out);
        }
    }
}

#[test]
fn a_checkpoint_pins_the_end_of_the_ledger() {
    let world = World::new();
    let mut server = world.server();
    for title in ["one", "two"] {
        let made = server.data("task_create", json!({ "title": title, "assignee": title }));
        let session = server.data("audit_session_start", json!({ "intent": title }));
        let thought = json!({
            "type": "reflection", "task_id": made["id"], "agent_id": title, "content": "done", "session_id": session["session_id"],
        });
        server.data("thought_record", thought);
        server.walk(&made["id"], "DONE");
    }
    assert_eq!(server.finish().code(), 0);
    world.run(&["verify", "--write-checkpoint", "then.json"]).ends(0);
    tamper(
        &world,
        "DELETE FROM reputation_ledger WHERE history_id = 2; DELETE FROM reputation_history WHERE id = 2; \
         DELETE FROM reputations WHERE node_id = 'two'; DELETE FROM experience_tokens WHERE node_id = 'two';",
    );
    if !engine::is_postgres() {
        tamper(&world, "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'reputation_history'");
    }
    verify(&world, 0);
    let run = world.run(&["verify", "--checkpoint", "then.json"]).ends(1);
    assert!(
        run.out.contains("LEDGER_CHANGED (1): the first 2 entries of the reputation ledger"),
        "{}",
        run.out
    );
    assert!(run.out.contains("TOKENS_CHANGED (1): the first 2 experience tokens"), "{}", run.out);
}

#[test]
fn entries_under_other_rules_are_chain_only() {
    let world = World::new();
    let now = world.epoch();
    world.import(&[gain("e1", "alice", "bob", 500, now), gain("e2", "alice", "bob", 500, now)]).ends(0);
    let conn = world.sql();
    // The last entry as another release would have written it: its own rules, its own arithmetic, its own hash.
    let exported = world.reputation(&["export"]).ends(0);
    let line = exported.out.lines().last().unwrap().to_owned();
    let mut entry: serde_json::Value = serde_json::from_str(&line).unwrap();
    entry["rule_version_hash"] = json!("1".repeat(64));
    entry["score_after"] = json!(77);
    for name in ["entry_hash", "recorded_at", "sequence_no"] {
        entry.as_object_mut().unwrap().shift_remove(name);
    }
    use sha2::Digest;
    let hash: String =
        sha2::Sha256::digest(entry.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    drop(conn);
    tamper(
        &world,
        &format!(
            "UPDATE reputation_ledger SET rule_version_hash = '{}', score_after = 77, entry_hash = '{hash}' WHERE history_id = 2; \
             UPDATE reputations SET score = 77 WHERE node_id = 'alice'",
            "1".repeat(64)
        ),
    );
    let json = world.reputation(&["verify", "--json"]).ends(0).json();
    assert_eq!(json["counts"]["entries under other rules, chain only"], 1);
}
