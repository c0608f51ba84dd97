//! `audit_verify_chain` on sound stores.

use serde_json::{Value, json};

use crate::trail::world::World;

#[test]
fn an_empty_store_is_sound() {
    let mut world = World::new();
    let verdict = world.verify(json!({}));
    assert_eq!(verdict, json!({ "valid": true, "broken_count": 0, "record_count": 0, "by_task": [] }));
}

#[test]
fn chains_are_told_apart_however_they_interleave() {
    let mut world = World::new();
    for task in ["A", "B", "A", "B", "A", "B", "A", "A"] {
        world.think(task, "x");
    }
    let verdict = world.verify(json!({}));
    assert_eq!(
        verdict,
        json!({
            "valid": true,
            "broken_count": 0,
            "record_count": 8,
            "by_task": [
                { "task_id": "A", "valid": true, "broken_count": 0, "record_count": 5 },
                { "task_id": "B", "valid": true, "broken_count": 0, "record_count": 3 },
            ],
            "not_covered": ["agent_id", "session_id"],
        })
    );
}

#[test]
fn one_task_is_answered_in_three_members() {
    let mut world = World::new();
    for _ in 0..3 {
        world.think("A", "x");
        world.think("B", "x");
    }
    let verdict = world.verify(json!({ "task_id": "A" }));
    let not_covered = ["agent_id", "session_id"];
    let expected = json!({ "valid": true, "broken_count": 0, "record_count": 3, "not_covered": not_covered });
    assert_eq!(verdict, expected);
    let unknown = world.verify(json!({ "task_id": "nobody" }));
    let message = "No task has the id nobody, and no thought was recorded under it.";
    let warnings = json!([{ "code": "TASK_UNKNOWN", "message": message }]);
    let expected = json!({ "valid": true, "broken_count": 0, "record_count": 0, "warnings": warnings });
    assert_eq!(unknown, expected);
    for bad in [json!({ "task_id": "" }), json!({ "foo": 1 }), json!({ "task_id": Value::Null })] {
        world.invalid("audit_verify_chain", bad);
    }
}

#[test]
fn an_unknown_session_is_named() {
    let mut world = World::new();
    let message = world.refused("audit_verify_chain", json!({ "session_id": "nope" }));
    assert_eq!(message, "ERR_SESSION_NOT_FOUND: there is no audit session nope");
    // PostgreSQL cannot hold such a text.
    let message = world.refused("audit_verify_chain", json!({ "session_id": "\0" }));
    assert_eq!(message, "ERR_SESSION_NOT_FOUND: there is no audit session \0");
    let unknown = world.verify(json!({ "task_id": "\0" }));
    assert_eq!(
        unknown["warnings"][0]["message"],
        "No task has the id \0, and no thought was recorded under it."
    );
}

/// The chains of a session's tasks are walked whole, records outside the session included.
#[test]
fn an_open_session_answers_with_its_chains_and_no_seal() {
    let mut world = World::new();
    world.start("R");
    for (task, session) in [("T", "S"), ("U", "R"), ("T", "R"), ("V", "S")] {
        let mut arguments = crate::trail::world::thought(task, "x");
        arguments["session_id"] = json!(session);
        world.record(arguments);
    }
    let verdict = world.verify(json!({ "session_id": "R" }));
    assert_eq!(verdict["record_count"], 3);
    assert_eq!(verdict["valid"], true);
    let tasks: Vec<&Value> =
        verdict["by_task"].as_array().unwrap().iter().map(|chain| &chain["task_id"]).collect();
    assert_eq!(tasks, [&json!("T"), &json!("U")]);
    assert_eq!(
        verdict["session"],
        json!({
            "session_id": "R",
            "state": "open",
            "record_count": 2,
            "root_match": null,
            "tree_head_match": null,
            "signature": null,
        })
    );
    let one = world.verify(json!({ "session_id": "R", "task_id": "U" }));
    assert_eq!(one["record_count"], 1);
    assert!(one.get("by_task").is_none() && one.get("session").is_some(), "{one}");
}
