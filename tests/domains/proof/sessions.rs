//! Sessions and the three tools.

use std::time::Duration;

use colibri_test_support::client::{Server, envelope};
use serde_json::{Value, json};

use crate::proof::world::{World, launch, text, thought};

/// The UUID v7 form (RFC 9562).
fn is_uuid_v7(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && groups[2].starts_with('7')
        && groups[3].starts_with(['8', '9', 'a', 'b'])
}

/// The 24-character form of trail#record.
fn is_timestamp(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    let fits = |(byte, model): (u8, u8)| if model == b'0' { byte.is_ascii_digit() } else { byte == model };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits)
}

#[test]
fn a_sealed_session_takes_no_record() {
    let mut world = World::new();
    world.sealed("S", "T", &["x"]);
    let (code, message) = world.failed("thought_record", thought("S", "T", "late"));
    assert_eq!(code, "HANDLER_ERROR");
    assert!(message.starts_with("ERR_ALREADY_FINALIZED: audit session S is sealed and takes"), "{message}");
}

#[test]
fn a_session_needs_an_intent_and_nothing_else() {
    let mut world = World::new();
    let session = world.server.data("audit_session_start", json!({ "intent": "x" }));
    assert!(is_uuid_v7(&text(&session, "session_id")), "{session}");
    assert!(is_timestamp(&text(&session, "started_at")), "{session}");
    assert_eq!(session["intent"], "x");
    assert_eq!(session.as_object().unwrap().get("task_id"), Some(&Value::Null));
    assert_eq!(session.as_object().unwrap().len(), 4, "{session}");

    let (code, message) = world.failed("audit_session_start", json!({ "intent": "" }));
    assert_eq!(code, "INVALID_PARAMS");
    assert!(message.contains("intent must not be empty"), "{message}");
    for refused in [
        json!({}),
        json!({ "intent": "x", "task_id": null }),
        json!({ "intent": "x", "session_id": null }),
        json!({ "intent": "x", "task_id": "" }),
        json!({ "intent": "x", "session_id": "" }),
        json!({ "intent": "x", "session_id": "a\u{7}b" }),
        json!({ "intent": "x", "task_id": "t".repeat(257) }),
        json!({ "intent": "x".repeat(4097) }),
        json!({ "intent": "x", "foo": 1 }),
    ] {
        let (code, message) = world.failed("audit_session_start", refused.clone());
        assert_eq!(code, "INVALID_PARAMS", "{refused}: {message}");
    }
    for taken in [
        json!({ "intent": "ζ".repeat(4096) }),
        json!({ "intent": " \n", "task_id": "é".repeat(256), "session_id": "😀".repeat(256) }),
    ] {
        let session = world.server.data("audit_session_start", taken.clone());
        assert_eq!(session["intent"], taken["intent"]);
        assert_eq!(session["task_id"], taken["task_id"]);
    }
}

#[test]
fn an_id_is_given_once() {
    let mut world = World::new();
    let first = json!({ "intent": "first", "session_id": "S" });
    assert_eq!(world.server.data("audit_session_start", first)["session_id"], "S");
    let second = json!({ "intent": "second", "session_id": "S" });
    assert_eq!(world.refused("audit_session_start", second.clone()), "ERR_SESSION_EXISTS");
    world.think("S", "T", "x");
    world.seal("S");
    assert_eq!(world.refused("audit_session_start", second), "ERR_SESSION_EXISTS");
    assert_eq!(world.text("SELECT intent FROM audit_sessions WHERE session_id = 'S'", &[]), "first");
    // Ids are compared byte for byte.
    world.start("s");
}

#[test]
fn only_an_open_session_with_records_is_sealed() {
    let mut world = World::new();
    let s = json!({ "session_id": "S" });
    assert_eq!(world.refused("merkle_finalize", s.clone()), "ERR_SESSION_NOT_FOUND");
    world.start("S");
    assert_eq!(world.refused("merkle_finalize", s.clone()), "ERR_NO_RECORDS");
    world.think("S", "T", "still open");
    world.seal("S");
    assert_eq!(world.refused("merkle_finalize", s), "ERR_ALREADY_FINALIZED");
    for refused in [json!({}), json!({ "session_id": "" }), json!({ "session_id": null })] {
        assert_eq!(world.failed("merkle_finalize", refused).0, "INVALID_PARAMS");
    }
}

#[test]
fn a_seal_is_read_as_it_was_given() {
    let mut world = World::new();
    let s = json!({ "session_id": "S" });
    assert_eq!(world.refused("merkle_root", s.clone()), "ERR_SESSION_NOT_FOUND");
    world.start("S");
    assert_eq!(world.refused("merkle_root", s.clone()), "ERR_NOT_FINALIZED");
    world.think("S", "T", "x");
    assert_eq!(world.refused("merkle_root", s.clone()), "ERR_NOT_FINALIZED");
    let sealed = world.seal("S").to_string();
    for _ in 0..3 {
        assert_eq!(world.server.data("merkle_root", s.clone()).to_string(), sealed);
    }
}

#[test]
fn an_imported_seal_has_no_head() {
    let mut world = World::new();
    world.sealed("S", "T", &["x"]);
    world.disarm();
    world.tamper("DELETE FROM tree_head_tips", &[]);
    world.tamper("DELETE FROM tree_heads", &[]);
    let seal = world.server.data("merkle_root", json!({ "session_id": "S" }));
    assert_eq!(seal.as_object().unwrap().get("tree_head"), Some(&Value::Null));
    assert_eq!(seal["record_count"], 1);
}

#[test]
fn the_root_of_one_record_is_its_hash() {
    let mut world = World::new();
    world.start("S");
    let record = world.think("S", "T", "x");
    let seal = world.seal("S");
    assert_eq!(seal["root"], record["hash"]);
    assert_eq!(seal["record_count"], 1);
    assert!(is_timestamp(&text(&seal, "finalized_at")));
    assert_eq!(seal["tree_head"]["legacy_root"], seal["root"]);
    assert_eq!(seal["tree_head"]["finalized_at"], seal["finalized_at"]);
    assert_eq!(seal["tree_head"].as_object().unwrap().len(), 16);
    assert_eq!(seal.as_object().unwrap().len(), 5);
}

#[test]
fn sessions_on_one_task_seal_their_own_records() {
    let mut world = World::new();
    world.start("A");
    world.start("B");
    let mut hashes = [Vec::new(), Vec::new()];
    for round in 0..7 {
        let which = usize::from(round % 3 == 1);
        let record = world.think(["A", "B"][which], "T", &format!("thought {round}"));
        hashes[which].push(text(&record, "hash"));
    }
    for (session, hashes) in ["A", "B"].iter().zip(&hashes) {
        let seal = world.seal(session);
        assert_eq!(seal["root"], legacy_root(hashes));
        assert_eq!(seal["record_count"], hashes.len());
    }
    let chain = world.server.data("audit_verify_chain", json!({ "task_id": "T" }));
    assert_eq!((&chain["valid"], &chain["record_count"]), (&json!(true), &json!(7)));
    for session in ["A", "B"] {
        assert_eq!(world.verify(session)["valid"], true);
    }
}

/// The original's root, by the engine that its own vectors hold.
fn legacy_root(hashes: &[String]) -> String {
    let hashes: Vec<_> =
        hashes.iter().map(|hash| colibri_canonical::HexDigest::parse(hash).unwrap()).collect();
    colibri_proof::tree::legacy::build_merkle_tree(&hashes).root().as_str().to_owned()
}

#[test]
fn a_session_spans_tasks() {
    let mut world = World::new();
    world.start("S");
    world.start("other");
    world.think("other", "U", "before");
    for task in ["T", "U", "T"] {
        world.think("S", task, "x");
    }
    let seal = world.seal("S");
    let mut tips: Vec<(String, i64, String)> = Vec::new();
    for task in ["T", "U"] {
        let sql = "SELECT chain_length, tip_hash FROM tree_head_tips WHERE task_id = ?1";
        let tip = world.sql.query_row(sql, [task], |row| Ok((task.into(), row.get(0)?, row.get(1)?)));
        tips.push(tip.unwrap());
    }
    assert_eq!(world.number("SELECT count(*) FROM tree_head_tips", &[]), 2);
    let newest = |task: &str| {
        world.text("SELECT hash FROM thought_records WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1", &[&task])
    };
    assert_eq!(tips, [("T".into(), 2, newest("T")), ("U".into(), 2, newest("U"))]);
    assert_eq!(seal["record_count"], 3);
    assert_eq!(world.verify("S")["session"]["tree_head_match"], true);
}

fn thoughts_under_way(server: &mut Server, count: usize) {
    for number in 0..count {
        server.send_call("thought_record", thought("S", "T", &format!("thought {number}")));
    }
}

/// Whether an append was accepted; otherwise the session must have been sealed before it.
fn accepted(answer: &Value) -> bool {
    let envelope = envelope(answer);
    if envelope["ok"] == true {
        return true;
    }
    assert_eq!(
        envelope["error"]["message"],
        "ERR_ALREADY_FINALIZED: audit session S is sealed and takes no more records",
        "{envelope}"
    );
    false
}

#[test]
fn no_record_is_lost_between_two_processes() {
    const APPENDS: usize = 200;
    let mut world = World::new();
    let mut other = launch().beside(&world.server).start();
    other.data("task_list", json!({}));
    world.start("S");
    world.think("S", "T", "first");
    thoughts_under_way(&mut world.server, APPENDS);
    // Some have arrived by then, many have not.
    let mut count = 1 + (0..APPENDS / 10).filter(|_| accepted(&world.server.receive())).count();
    other.send_call("merkle_finalize", json!({ "session_id": "S" }));
    count += (0..APPENDS - APPENDS / 10).filter(|_| accepted(&world.server.receive())).count();
    let seal = envelope(&other.receive())["data"].clone();
    assert_eq!(seal["record_count"], count, "{seal}");
    assert_eq!(seal["tree_head"]["tree_size"], count);
    for table in ["thought_records", "merkle_leaves"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE session_id = 'S'");
        assert_eq!(world.number(&sql, &[]), i64::try_from(count).unwrap());
    }
    assert_eq!(world.verify("S")["valid"], true);
}

#[test]
fn a_session_outlives_its_process() {
    let mut world = World::new();
    world.start("S");
    world.think("S", "T", "before");
    let folder = world.server.shared_folder();
    let ended = world.server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    let mut world = World::around(launch().in_folder(folder).start());
    assert_eq!(world.verify("S")["session"]["state"], "open");
    world.think("S", "T", "after");
    assert_eq!(world.seal("S")["record_count"], 2);
}

#[test]
fn seals_of_one_batch_follow_each_other() {
    let mut world = World::new();
    for session in ["A", "B", "C"] {
        world.start(session);
        world.think(session, "T", session);
    }
    for session in ["A", "B", "C"] {
        world.server.send_call("merkle_finalize", json!({ "session_id": session }));
    }
    let heads: Vec<Value> = (0..3)
        .map(|_| {
            let answer = world.server.receive_within(Duration::from_secs(60)).unwrap();
            envelope(&answer)["data"]["tree_head"].clone()
        })
        .collect();
    let mut before = crate::proof::world::ZERO.to_owned();
    for (index, head) in heads.iter().enumerate() {
        assert_eq!(head["head_index"], index);
        assert_eq!(head["prev_head_hash"], before.as_str());
        before = text(head, "head_hash");
        let exit_no = head["log_exit_no"].as_i64().unwrap();
        let row_hash = world.text("SELECT row_hash FROM actions WHERE exit_no = ?1", &[&exit_no]);
        assert_eq!(head["log_row_hash"], row_hash.as_str());
    }
    // Each names the row of the call before it, although the head of the log is written only at commit.
    let exits: Vec<i64> = heads.iter().map(|head| head["log_exit_no"].as_i64().unwrap()).collect();
    assert_eq!(exits, [exits[0], exits[0] + 1, exits[0] + 2]);
    for session in ["A", "B", "C"] {
        assert_eq!(world.verify(session)["valid"], true);
    }
}
