//! Verification of a session and its seal.

use serde_json::{Value, json};

use crate::proof::world::{World, codes, issue, text};

#[test]
fn an_open_session_has_no_verdict_on_its_seal() {
    let mut world = World::new();
    world.start("S");
    world.think("S", "T", "x");
    let open = world.verify("S");
    assert_eq!(open["valid"], true);
    assert_eq!(
        open["session"],
        json!({
            "session_id": "S", "state": "open", "record_count": 1,
            "root_match": null, "tree_head_match": null, "signature": null
        })
    );
    let (code, message) = world.failed("audit_verify_chain", json!({ "session_id": "nope" }));
    assert_eq!(code, "HANDLER_ERROR");
    assert!(message.starts_with("ERR_SESSION_NOT_FOUND: there is no audit session nope"), "{message}");
}

#[test]
fn a_sound_seal_is_told_so() {
    for (mut world, signature) in [(World::new(), "unsigned"), (World::signing(), "valid")] {
        world.sealed("S", "T", &["one", "two", "three"]);
        // Records after the seal, in another session, do not affect it.
        world.start("later");
        world.think("later", "T", "four");
        let sealed = world.verify("S");
        assert_eq!(sealed["valid"], true, "{sealed}");
        assert_eq!(sealed["broken_count"], 0);
        assert_eq!(sealed["record_count"], 4);
        assert_eq!(
            sealed["session"],
            json!({
                "session_id": "S", "state": "finalized", "record_count": 3,
                "root_match": true, "tree_head_match": true, "signature": signature
            })
        );
    }
}

#[test]
fn another_author_is_seen_by_the_seal_alone() {
    let mut world = World::new();
    world.sealed("S", "T", &["one", "two", "three"]);
    let id = world.text("SELECT id FROM thought_records WHERE content = 'two'", &[]);
    world.disarm();
    world.tamper("UPDATE thought_records SET agent_id = 'a2' WHERE id = ?1", &[&id]);
    let chain = world.server.data("audit_verify_chain", json!({ "task_id": "T" }));
    let not_covered = json!(["agent_id", "session_id"]);
    assert_eq!((&chain["valid"], &chain["not_covered"]), (&json!(true), &not_covered));
    let sealed = world.verify("S");
    assert_eq!(codes(&sealed), ["TREE_ROOT_MISMATCH"]);
    assert_eq!(sealed["broken_count"], 1);
    assert_eq!(sealed["session"]["root_match"], true);
    assert_eq!(sealed["session"]["tree_head_match"], false);
    assert_eq!(sealed["first_broken_at"], id.as_str());
    let found = issue(&sealed, "TREE_ROOT_MISMATCH");
    assert_eq!((&found["record_id"], &found["index"]), (&json!(id), &json!(1)));
}

/// The four findings of a session that does not hold the records that were sealed.
fn assert_other_records(sealed: &Value) {
    let codes = codes(sealed);
    for code in
        ["SESSION_RECORDS_MISMATCH", "LEGACY_ROOT_MISMATCH", "ROOT_COUNT_MISMATCH", "TREE_ROOT_MISMATCH"]
    {
        assert!(codes.iter().any(|found| found == code), "{code}: {codes:?}");
    }
    assert_eq!(sealed["session"]["root_match"], false);
    assert_eq!(sealed["session"]["tree_head_match"], false);
}

#[test]
fn a_record_taken_out_of_its_session_is_missed() {
    for (place, content) in ["one", "two", "three"].iter().enumerate() {
        let mut world = World::new();
        world.sealed("S", "T", &["one", "two", "three"]);
        let id = world.text("SELECT id FROM thought_records WHERE content = ?1", &[content]);
        world.disarm();
        world.tamper("UPDATE thought_records SET session_id = NULL WHERE content = ?1", &[content]);
        let sealed = world.verify("S");
        assert_other_records(&sealed);
        let found = issue(&sealed, "SESSION_RECORDS_MISMATCH");
        assert_eq!((&found["record_id"], &found["index"]), (&json!(id), &json!(place)));
        assert_eq!(sealed["session"]["record_count"], 2);
    }
}

#[test]
fn a_record_put_into_a_sealed_session_is_seen() {
    for content in ["before", "after"] {
        let mut world = World::new();
        world.start("other");
        world.think("other", "T", "before");
        world.sealed("S", "T", &["one", "two"]);
        world.think("other", "T", "after");
        world.disarm();
        world.tamper("UPDATE thought_records SET session_id = 'S' WHERE content = ?1", &[&content]);
        let sealed = world.verify("S");
        assert_other_records(&sealed);
        assert_eq!(sealed["session"]["record_count"], 3);
    }
}

#[test]
fn a_session_emptied_of_its_records_is_still_sealed() {
    let mut world = World::new();
    world.sealed("S", "T", &["one", "two"]);
    let first = world.text("SELECT id FROM thought_records WHERE content = 'one'", &[]);
    world.disarm();
    world.tamper("UPDATE thought_records SET session_id = NULL", &[]);
    let sealed = world.verify("S");
    assert_other_records(&sealed);
    assert_eq!(sealed["first_broken_at"], first.as_str());
}

#[test]
fn an_exchange_of_two_records_escapes_the_legacy_root_alone() {
    let mut world = World::new();
    world.sealed("S", "T", &["one", "two", "three", "four"]);
    let seq = |content: &str| world.number("SELECT seq FROM thought_records WHERE content = ?1", &[&content]);
    let (two, three) = (seq("two"), seq("three"));
    world.disarm();
    for (from, to) in [(two, -1), (three, two), (-1, three)] {
        world.tamper("UPDATE thought_records SET seq = ?2 WHERE seq = ?1", &[&from, &to]);
    }
    let sealed = world.verify("S");
    let codes = codes(&sealed);
    let has = |code: &str| codes.iter().any(|found| found == code);
    assert!(!has("LEGACY_ROOT_MISMATCH") && !has("ROOT_COUNT_MISMATCH"), "{codes:?}");
    assert!(
        has("SESSION_RECORDS_MISMATCH") && has("TREE_ROOT_MISMATCH") && has("PREV_MISMATCH"),
        "{codes:?}"
    );
    assert_eq!(sealed["session"]["root_match"], true);
    assert_eq!(sealed["session"]["tree_head_match"], false);
    assert_eq!(issue(&sealed, "SESSION_RECORDS_MISMATCH")["index"], 1);
}

#[test]
fn a_record_with_a_hash_that_is_none_cannot_be_sealed() {
    let mut world = World::new();
    world.start("S");
    world.think("S", "T", "x");
    world.disarm();
    world.tamper("UPDATE thought_records SET hash = ?1", &[&"z".repeat(64)]);
    let (code, message) = world.failed("merkle_finalize", json!({ "session_id": "S" }));
    assert_eq!(code, "HANDLER_ERROR");
    assert!(message.contains("S") && message.contains("hash"), "{message}");
    assert_eq!(text(&world.verify("S")["session"], "state"), "open");
}
