//! The exported ledger holds everything its hashes cover, so that it can be checked without the database.

use colibri::domains::reputation::pack::LAMBDA_RULES_HASH;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::world::{World, gain, penalty};

/// What the hash of an entry leaves out.
const BESIDE: [&str; 3] = ["entry_hash", "recorded_at", "sequence_no"];

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_exported_line_gives_its_own_hash_and_continues_the_last() {
    let world = World::new();
    let now = world.epoch();
    world
        .import(&[
            gain("e1 \"quoted\"\u{1}", "älice", "bob", 500, now - 1),
            penalty("e2", "mallory", "*", "fraud", now - 1),
            gain("e3", "älice", "bob", 700, now),
        ])
        .ends(0);
    let exported = world.reputation(&["export"]).ends(0);
    let mut last = "0".repeat(64);
    let mut numbers = Vec::new();
    for line in exported.out.lines() {
        let whole: Value = serde_json::from_str(line).unwrap();
        let keys: Vec<&String> = whole.as_object().unwrap().keys().collect();
        assert!(keys.is_sorted(), "{line}");
        assert_eq!(whole.to_string(), line, "canonical, as it stands");
        let mut hashed = whole.clone();
        BESIDE.iter().for_each(|name| drop(hashed.as_object_mut().unwrap().shift_remove(*name).unwrap()));
        assert_eq!(hashed.as_object().unwrap().len(), 22);
        assert_eq!(whole["entry_hash"], sha256(&hashed.to_string()), "{line}");
        assert_eq!(whole["prev_hash"], last, "{line}");
        assert_eq!(whole["rule_version_hash"], LAMBDA_RULES_HASH);
        last = whole["entry_hash"].as_str().unwrap().to_owned();
        numbers.push(whole["history_id"].as_i64().unwrap());
    }
    assert_eq!(numbers, (1..=7).collect::<Vec<_>>());
    assert_eq!(exported.out.lines().next().map(|line| line.contains("älice")), Some(true));

    world.reputation(&["export", "--out", "ledger.jsonl"]).ends(0);
    assert_eq!(std::fs::read_to_string(world.path("ledger.jsonl")).unwrap(), exported.out);
    let again = world.reputation(&["export", "--out", "ledger.jsonl"]).ends(2);
    assert!(again.err.contains("is there already and was not changed; choose another name"), "{}", again.err);
    world.reputation(&["export", "--db", "nowhere.db"]).ends(2);
}

#[test]
fn an_empty_ledger_exports_nothing_and_a_damaged_one_says_where() {
    let world = World::new();
    world.import(&[]).ends(0);
    assert_eq!(world.reputation(&["export"]).ends(0).out, "");
    let now = world.epoch();
    world.import(&[gain("e1", "alice", "bob", 500, now), gain("e2", "alice", "bob", 500, now)]).ends(0);
    world.sql().tamper("DELETE FROM reputation_history WHERE id = 2");
    let run = world.reputation(&["export"]).ends(1);
    assert!(run.err.contains("ledger entry 2 is malformed"), "{}", run.err);
}
