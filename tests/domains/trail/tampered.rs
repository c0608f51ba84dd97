//! `audit_verify_chain` on stores that were changed behind the server's back.

use colibri_test_support::engine;
use colibri_test_support::sql::dialect;
use serde_json::json;

use crate::trail::five::{self, HASHES, id};
use crate::trail::world::{World, broken, codes, thought};

type Change = fn(&World);

/// Sets a column of the record of that number.
fn set(world: &World, number: usize, column: &str, value: &str) {
    let sql = format!("UPDATE thought_records SET {column} = ?2 WHERE id = ?1");
    assert_eq!(world.sql.execute(&sql, (id(number), value)).unwrap(), 1);
}

fn delete(world: &World, number: usize) {
    world.tamper(&format!("DELETE FROM thought_records WHERE id = '{}'", id(number)));
}

fn exchange(world: &World, one: usize, other: usize) {
    world.tamper(&format!(
        "UPDATE thought_records SET seq = -seq WHERE seq IN ({one}, {other}); \
         UPDATE thought_records SET seq = {one} + {other} + seq WHERE seq < 0"
    ));
}

fn forge(world: &World) {
    world.tamper(&format!(
        "UPDATE thought_records SET seq = seq + 100 WHERE seq > 2; \
         INSERT INTO thought_records \
         (seq, id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) \
         SELECT 3, '{}', type, task_id, agent_id, 'forged', timestamp, '{}', '{}', created_at \
         FROM thought_records WHERE id = '{}'",
        id(99),
        HASHES[1],
        "0".repeat(64),
        id(3)
    ));
    world.rehash(&id(99));
}

/// The nine changes of trail#verify-chain from the first edit to the rewritten first link: how many records are broken
/// then, and the first of them.
#[rustfmt::skip]
const TABLE: [(&str, Change, i64, usize); 9] = [
    ("R3 content edited, hash left", |world| set(world, 3, "content", "step 3 (rewritten)"), 1, 3),
    ("R3 content edited, rehashed", |world| { set(world, 3, "content", "other"); world.rehash(&id(3)); }, 1, 4),
    ("R3 prev_hash edited", |world| set(world, 3, "prev_hash", &"a".repeat(64)), 1, 3),
    ("R3 deleted", |world| delete(world, 3), 1, 4),
    ("R1 deleted", |world| delete(world, 1), 1, 2),
    ("R3 and R4 exchanged", |world| exchange(world, 3, 4), 3, 4),
    ("forged record inserted", forge, 1, 3),
    ("R3 hash uppercased", |world| set(world, 3, "hash", &HASHES[2].to_uppercase()), 2, 3),
    ("R1 prev_hash set and rehashed",
        |world| { set(world, 1, "prev_hash", &"f".repeat(64)); world.rehash(&id(1)); }, 2, 1),
];

#[test]
fn every_break_of_the_table_is_found_by_the_tool() {
    let sound = five::world().verify(json!({ "task_id": "T-A" }));
    assert_eq!((&sound["valid"], &sound["record_count"]), (&json!(true), &json!(5)));
    for (name, change, count, first) in TABLE {
        let mut world = five::world();
        change(&world);
        let verdict = world.verify(json!({ "task_id": "T-A" }));
        assert_eq!(broken(&verdict), (count, Some(id(first).as_str())), "{name}: {verdict}");
        let all = world.verify(json!({}));
        assert_eq!(broken(&all), (count, Some(id(first).as_str())), "{name}: {all}");
    }
}

#[test]
fn a_removed_tail_is_missed() {
    let mut world = five::world();
    delete(&world, 5);
    let verdict = world.verify(json!({ "task_id": "T-A" }));
    assert_eq!(broken(&verdict), (1, Some(id(5).as_str())), "{verdict}");
    assert_eq!(codes(&verdict), ["TAIL_TRUNCATED"]);
}

#[test]
fn a_rewritten_tail_is_not_the_head() {
    let mut world = five::world();
    set(&world, 5, "content", "other");
    world.rehash(&id(5));
    let verdict = world.verify(json!({ "task_id": "T-A" }));
    assert_eq!(broken(&verdict), (1, Some(id(5).as_str())), "{verdict}");
    assert_eq!(codes(&verdict), ["HEAD_MISMATCH"]);
}

#[test]
fn a_removed_chain_is_listed() {
    let mut world = five::world();
    world.think("T-B", "x");
    world.tamper("DELETE FROM thought_records WHERE task_id = 'T-A'");
    let verdict = world.verify(json!({}));
    assert_eq!(broken(&verdict), (1, Some(id(5).as_str())), "{verdict}");
    assert_eq!(codes(&verdict), ["TAIL_TRUNCATED"]);
    assert_eq!(
        verdict["by_task"],
        json!([
            { "task_id": "T-B", "valid": true, "broken_count": 0, "record_count": 1 },
            { "task_id": "T-A", "valid": false, "broken_count": 1, "record_count": 0, "first_broken_at": id(5) },
        ])
    );
}

#[test]
fn the_next_append_shows_a_removed_tail_for_good() {
    let mut world = five::world();
    delete(&world, 5);
    let next = world.think("T-A", "step 6");
    assert_eq!(next["prev_hash"], HASHES[4]);
    let verdict = world.verify(json!({ "task_id": "T-A" }));
    assert_eq!(broken(&verdict), (1, next["id"].as_str()), "{verdict}");
    assert_eq!(codes(&verdict)[0], "PREV_MISMATCH");
}

#[test]
fn missing_heads_and_malformed_hashes_are_named() {
    let mut world = five::world();
    world.tamper("DELETE FROM trail_heads");
    let verdict = world.verify(json!({ "task_id": "T-A" }));
    assert_eq!(broken(&verdict), (1, Some(id(5).as_str())), "{verdict}");
    assert_eq!(codes(&verdict), ["HEAD_MISSING"]);

    for (column, value) in [("hash", "z".repeat(64)), ("prev_hash", "0".into()), ("type", "gate".into())] {
        let mut world = five::world();
        set(&world, 3, column, &value);
        let verdict = world.verify(json!({ "task_id": "T-A" }));
        assert_eq!(broken(&verdict).1, Some(id(3).as_str()), "{verdict}");
        assert!(codes(&verdict).contains(&"MALFORMED"), "{verdict}");
    }
}

/// No stored byte makes a walk fail: bytes that are not text read as something that fits no hash.
#[test]
fn bytes_that_are_no_text_are_a_break_not_a_failure() {
    for column in ["content", "agent_id", "timestamp", "prev_hash", "hash", "type", "id"] {
        let mut world = five::world();
        // In PostgreSQL the other columns hold text alone.
        if engine::is_postgres() && column != "content" {
            continue;
        }
        let no_text = dialect::bytes_as_text("ff00fe");
        world.tamper(&format!("UPDATE thought_records SET {column} = {no_text} WHERE id = '{}'", id(3)));
        let verdict = world.verify(json!({ "task_id": "T-A" }));
        // The author is not part of the record's hash (trail#record).
        assert_eq!(verdict["valid"], column == "agent_id", "{column}: {verdict}");
        assert_eq!(world.list(json!({ "task_id": "T-A" }))["count"], 5, "{column}");
    }
}

#[test]
fn a_break_is_counted_where_it_is() {
    let mut world = World::new();
    let mut spoilt = String::new();
    for round in 0..3 {
        world.think("A", "x");
        let record = world.think("B", "x");
        if round == 1 {
            spoilt = crate::trail::world::text(&record, "id");
        }
    }
    world.disarm();
    world.tamper(&format!("UPDATE thought_records SET content = 'y' WHERE id = '{spoilt}'"));
    let verdict = world.verify(json!({}));
    assert_eq!(broken(&verdict), (1, Some(spoilt.as_str())), "{verdict}");
    assert_eq!(codes(&verdict), ["HASH_MISMATCH"]);
    let issue = &verdict["issues"][0];
    assert_eq!((&issue["task_id"], &issue["record_id"]), (&json!("B"), &json!(spoilt)));
    assert_eq!((&issue["session_id"], &issue["index"]), (&json!(null), &json!(1)));
    let chains = verdict["by_task"].as_array().unwrap();
    assert_eq!((&chains[0]["task_id"], &chains[0]["valid"]), (&json!("A"), &json!(true)));
    assert_eq!((&chains[1]["task_id"], &chains[1]["valid"]), (&json!("B"), &json!(false)));
    let sum: i64 = chains.iter().map(|chain| chain["broken_count"].as_i64().unwrap()).sum();
    assert_eq!(verdict["broken_count"], sum);
}

#[test]
fn a_hundred_issues_are_listed_and_all_are_counted() {
    let mut world = World::new();
    for _ in 0..150 {
        world.server.send_call("thought_record", thought("T", "x"));
    }
    for _ in 0..150 {
        world.server.receive();
    }
    world.disarm();
    world.tamper("UPDATE thought_records SET content = 'y'");
    let verdict = world.verify(json!({ "task_id": "T" }));
    assert_eq!(verdict["broken_count"], 150);
    assert_eq!(codes(&verdict).len(), 100);
    assert_eq!(verdict["issues_truncated"], true);
}

/// Even if every trace of a task except the leaf is removed from a sealed session, its chain is walked.
#[test]
fn a_sealed_records_chain_belongs_to_the_session() {
    let mut world = World::new();
    world.think("T", "x");
    let moved = world.think("U", "x");
    world.server.data("merkle_finalize", json!({ "session_id": crate::trail::world::SESSION }));
    let sealed = json!({ "session_id": crate::trail::world::SESSION });
    assert_eq!(world.verify(sealed.clone())["valid"], true);
    world.disarm();
    world.tamper("DELETE FROM tree_head_tips WHERE task_id = 'U'");
    world
        .sql
        .execute("UPDATE thought_records SET session_id = NULL WHERE id = ?1", [moved["id"].as_str()])
        .unwrap();
    let verdict = world.verify(sealed);
    assert_eq!(verdict["record_count"], 2, "{verdict}");
    assert!(codes(&verdict).contains(&"SESSION_RECORDS_MISMATCH"), "{verdict}");
    let tasks: Vec<_> =
        verdict["by_task"].as_array().unwrap().iter().map(|chain| &chain["task_id"]).collect();
    assert_eq!(tasks, ["T", "U"]);
}

/// What a seal saw at the end of a chain is asked for, session or not (proof#seal-verification).
#[test]
fn a_chain_that_lost_what_a_seal_saw_is_a_broken_seal() {
    let mut world = World::new();
    let first = world.think("T", "in the session");
    world.start("R");
    let mut outside = thought("T", "outside");
    outside["session_id"] = json!("R");
    let outside = world.record(outside);
    world.server.data("merkle_finalize", json!({ "session_id": crate::trail::world::SESSION }));
    world.disarm();
    world.sql.execute("DELETE FROM thought_records WHERE id = ?1", [outside["id"].as_str()]).unwrap();
    world
        .sql
        .execute(
            "UPDATE trail_heads SET chain_length = 1, tip_id = ?1, tip_hash = ?2",
            [first["id"].as_str(), first["hash"].as_str()],
        )
        .unwrap();
    assert_eq!(world.verify(json!({ "task_id": "T" }))["valid"], true);
    let verdict = world.verify(json!({ "session_id": crate::trail::world::SESSION }));
    assert_eq!(broken(&verdict), (1, first["id"].as_str()), "{verdict}");
    assert_eq!(codes(&verdict), ["TIP_REGRESSION"]);
    assert_eq!(verdict["session"]["tree_head_match"], false);
    assert_eq!(verdict["session"]["root_match"], true);
}
