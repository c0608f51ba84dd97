//! `task_create`.

use serde_json::{Value, json};

use crate::tasks::world::{World, refusal};

#[test]
fn a_bare_title_makes_a_task_in_init() {
    let mut world = World::new();
    let task = world.create(json!({ "title": "A" }));
    assert_eq!(task["status"], "INIT");
    for field in ["project_id", "description", "priority", "assignee", "deleted_at"] {
        assert_eq!(task.get(field), Some(&Value::Null), "{field}");
    }
    assert_eq!(task["id"], task["task_id"]);
    let id = task["id"].as_str().unwrap();
    // Version 7 by chain#kernel; the variant of RFC 9562.
    assert!(id.len() == 36 && id.as_bytes()[14] == b'7' && b"89ab".contains(&id.as_bytes()[19]), "{id}");
    assert_eq!(id, id.to_lowercase());
    assert_eq!(task["created_at"], task["updated_at"]);
    let at = task["created_at"].as_str().unwrap();
    assert!(at.len() == 24 && at.ends_with('Z'), "{at}");
    let keys: Vec<&String> = task.as_object().unwrap().keys().collect();
    let order =
        "id task_id project_id title description status priority assignee created_at updated_at deleted_at";
    assert_eq!(keys, order.split(' ').collect::<Vec<_>>());
}

#[test]
fn the_transport_pages_example_is_accepted() {
    let mut world = World::new();
    let task =
        world.create(json!({ "title": "Implement boot sequence", "project": "colibri", "priority": "high" }));
    assert_eq!(task["project_id"], "colibri");
    assert_eq!(task["priority"], "high");
    assert_eq!(task["status"], "INIT");
}

#[test]
fn project_and_project_id_must_agree() {
    let mut world = World::new();
    world.invalid("task_create", json!({ "title": "A", "project": "x", "project_id": "y" }));
    world.invalid("task_create", json!({ "title": "A", "project": null, "project_id": "y" }));
    let task = world.create(json!({ "title": "A", "project": "x", "project_id": "x" }));
    assert_eq!(task["project_id"], "x");
}

#[test]
fn a_task_needs_a_title() {
    let mut world = World::new();
    for arguments in [
        json!({}),
        json!({ "title": "" }),
        json!({ "title": "   " }),
        json!({ "title": 7 }),
        json!({ "title": null }),
    ] {
        world.invalid("task_create", arguments);
    }
    assert_eq!(world.count(), 0);
}

#[test]
fn lengths_count_characters() {
    let mut world = World::new();
    let title = "🦜".repeat(256);
    assert_eq!(world.create(json!({ "title": title }))["title"], json!(title));
    world.invalid("task_create", json!({ "title": "🦜".repeat(257) }));
    let description = "é".repeat(8000);
    let task = world.create(json!({ "title": "A", "description": description }));
    assert_eq!(task["description"], json!(description));
    world.invalid("task_create", json!({ "title": "A", "description": "é".repeat(8001) }));
}

#[test]
fn an_unknown_key_is_named() {
    let mut world = World::new();
    let issues = world.invalid("task_create", json!({ "title": "A", "progress": 5 }));
    assert!(issues.iter().any(|issue| issue["message"] == "Unrecognized key: \"progress\""), "{issues:?}");
}

#[test]
fn a_task_may_enter_at_another_state() {
    let mut world = World::new();
    assert_eq!(world.create(json!({ "title": "A", "status": "VERIFY" }))["status"], "VERIFY");
    assert_eq!(world.create(json!({ "title": "A", "status": "CANCELLED" }))["status"], "CANCELLED");
    world.invalid("task_create", json!({ "title": "A", "status": "verify" }));
}

#[test]
fn no_task_is_born_finished() {
    let mut world = World::new();
    let before = world.count();
    let answer = world.server.request(
        "tools/call",
        json!({ "name": "task_create", "arguments": { "title": "A", "status": "DONE" } }),
    );
    assert!(answer["result"].get("isError").is_none(), "{answer}");
    let error = refusal(&answer["result"]["structuredContent"]);
    assert_eq!(error["code"], "ERR_WRITEBACK_REQUIRED");
    assert_eq!(error["message"], "A new task cannot be DONE: it has no thought record yet");
    assert_eq!(error.get("task_id"), Some(&Value::Null));
    assert_eq!(error["missing_fields"], json!(["thought_record"]));
    assert_eq!(world.count(), before);
}

#[test]
fn titles_are_stored_verbatim() {
    let mut world = World::new();
    let title = "'); DROP TABLE tasks;--";
    let task = world.create(json!({ "title": title }));
    assert_eq!(task["title"], title);
    assert_eq!(world.get(task["id"].as_str().unwrap())["title"], title);
    world.invalid("task_create", json!({ "title": "a\u{0}b" }));
}

#[test]
fn the_same_call_twice_makes_two_tasks() {
    let mut world = World::new();
    let first = world.create(json!({ "title": "A" }));
    let second = world.create(json!({ "title": "A" }));
    assert_ne!(first["id"], second["id"]);
    assert_eq!(world.count(), 2);
}
