//! The whole of a proof-grade piece of work, and what READONLY leaves of it.

use colibri_canonical::HexDigest;
use colibri_proof::tree::legacy::build_merkle_tree;
use serde_json::json;

use crate::proof::world::{World, launch, text, thought};

/// The states between a task's first and its last.
const STEPS: [&str; 5] = ["GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY"];

fn task_before_done(world: &mut World) -> String {
    let id = text(&world.server.data("task_create", json!({ "title": "Build the verifier" })), "id");
    for status in STEPS {
        world.server.data("task_update", json!({ "id": id, "status": status }));
    }
    id
}

#[test]
fn a_piece_of_work_from_session_to_done() {
    let mut world = World::signing();
    let task = task_before_done(&mut world);
    let intent = json!({ "intent": "Build the verifier", "task_id": task });
    let session = text(&world.server.data("audit_session_start", intent), "session_id");
    let think = |world: &mut World, kind: &str| {
        let mut arguments = thought(&session, &task, &format!("a {kind}"));
        arguments["type"] = json!(kind);
        world.server.data("thought_record", arguments)
    };
    for kind in ["plan", "analysis", "decision"] {
        think(&mut world, kind);
    }
    for arguments in [json!({ "task_id": task }), json!({ "session_id": session })] {
        assert_eq!(world.server.data("audit_verify_chain", arguments)["valid"], true);
    }
    think(&mut world, "reflection");
    let sealed = world.seal(&session);
    let read = world.server.data("merkle_root", json!({ "session_id": session }));
    assert_eq!(read, sealed);

    let listed = world.server.data("thought_record_list", json!({ "session_id": session }));
    let hashes: Vec<HexDigest> = listed["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| HexDigest::parse(record["hash"].as_str().unwrap()).unwrap())
        .collect();
    assert_eq!(hashes.len(), 4);
    assert_eq!(read["root"], build_merkle_tree(&hashes).root().as_str());
    let done = world.server.data("task_update", json!({ "id": task, "status": "DONE" }));
    assert_eq!(done["status"], "DONE");
    assert_eq!(world.verify(&session)["session"]["signature"], "valid");
}

#[test]
fn a_task_without_a_thought_is_not_done() {
    for kind in ["plan", "analysis", "decision", "reflection"] {
        let mut world = World::new();
        let task = task_before_done(&mut world);
        let done = json!({ "id": task, "status": "DONE" });
        let envelope = world.server.call("task_update", done.clone());
        assert_eq!(envelope["data"]["error"]["code"], "ERR_WRITEBACK_REQUIRED", "{envelope}");
        world.start("S");
        let mut arguments = thought("S", &task, "one");
        arguments["type"] = json!(kind);
        world.server.data("thought_record", arguments);
        assert_eq!(world.server.data("task_update", done)["status"], "DONE");
    }
}

#[test]
fn readonly_reads_and_verifies_and_writes_nothing() {
    let mut world = World::signing();
    let sealed = world.sealed("S", "T", &["one", "two"]);
    world.start("open");
    let folder = world.server.shared_folder();
    let World { server, sql } = world;
    drop(sql);
    assert_eq!(server.finish().code(), 0);

    let launch = launch().in_folder(folder).env("COLIBRI_MODE", "READONLY");
    let key = launch.folder().path().join("key");
    let mut world = World::around(launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", key).start());
    let read = world.server.data("merkle_root", json!({ "session_id": "S" }));
    assert_eq!(read, sealed);
    assert_eq!(world.server.data("thought_record_list", json!({ "session_id": "S" }))["count"], 2);
    // The key is read for its public half: what it has signed is known.
    let verified = world.verify("S");
    assert_eq!((&verified["valid"], &verified["session"]["signature"]), (&json!(true), &json!("valid")));
    for (tool, arguments) in [
        ("audit_session_start", json!({ "intent": "x" })),
        ("thought_record", thought("open", "T", "x")),
        ("merkle_finalize", json!({ "session_id": "open" })),
    ] {
        assert_eq!(world.failed(tool, arguments).0, "TOOL_NOT_ADMITTED", "{tool}");
    }
    let calls = "SELECT count(*) FROM actions WHERE mode = 'READONLY'";
    assert_eq!(world.number(calls, &[]), 0);
}

#[test]
fn each_call_names_the_session_it_has_written() {
    let mut world = World::new();
    world.sealed("S", "T", &["x"]);
    world.refused("merkle_finalize", json!({ "session_id": "S" }));
    let subjects: Vec<(String, Option<String>)> = world
        .sql
        .prepare("SELECT tool, subject FROM actions WHERE tool IN ('audit_session_start', 'merkle_finalize') ORDER BY 1")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let named = |tool: &str, subject: Option<&str>| (tool.to_owned(), subject.map(str::to_owned));
    assert_eq!(
        subjects,
        [
            named("audit_session_start", Some("S")),
            named("merkle_finalize", Some("S")),
            named("merkle_finalize", None)
        ]
    );
    // And each row names its call.
    for (table, tool) in [("audit_sessions", "audit_session_start"), ("merkle_roots", "merkle_finalize")] {
        let sql = format!(
            "SELECT count(*) FROM {table} AS t JOIN actions AS a USING (sequence_no) WHERE a.tool = ?1 AND a.subject = 'S'"
        );
        assert_eq!(world.number(&sql, &[&tool]), 1, "{table}");
    }
}
