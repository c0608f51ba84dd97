//! `task_update` beside the state machine.

use serde_json::{Value, json};

use crate::tasks::world::{World, id_of};

#[test]
fn a_refused_patch_changes_nothing() {
    let mut world = World::new();
    let task = world.create(json!({ "title": "old" }));
    let id = id_of(&task);
    let before = world.stored();
    world.refused("task_update", json!({ "id": id, "patch": { "title": "new", "status": "DONE" } }));
    assert_eq!(world.stored(), before);
    assert_eq!(world.get(&id), task);
}

#[test]
fn flat_and_patch_styles_do_the_same_but_not_together() {
    let mut world = World::new();
    let (flat, patched) = (world.task_in("INIT"), world.task_in("INIT"));
    let one = world.server.data("task_update", json!({ "id": flat, "status": "GATHER" }));
    let two = world.server.data("task_update", json!({ "id": patched, "patch": { "status": "GATHER" } }));
    assert_eq!((&one["status"], &two["status"]), (&json!("GATHER"), &json!("GATHER")));
    let both = json!({ "id": flat, "status": "ANALYZE", "patch": { "title": "new" } });
    let issues = world.invalid("task_update", both);
    let issue =
        issues.iter().find(|issue| issue["path"] == json!(["status"])).expect("the flat key is named");
    assert_eq!(issue["code"], "custom");
    assert_eq!(issue["message"], "use either patch or top-level fields");
}

#[test]
fn an_empty_patch_changes_nothing() {
    let mut world = World::new();
    let task = world.create(json!({ "title": "A" }));
    for arguments in [json!({ "id": task["id"], "patch": {} }), json!({ "id": task["id"] })] {
        assert_eq!(world.server.data("task_update", arguments), task);
    }
    for arguments in [json!({ "id": "X", "patch": {} }), json!({ "id": "X" })] {
        assert_eq!(world.refused("task_update", arguments)["code"], "ERR_NOT_FOUND");
    }
}

#[test]
fn null_clears_and_absent_keeps() {
    let mut world = World::new();
    for field in ["description", "project_id", "priority", "assignee"] {
        let id = id_of(&world.create(json!({ "title": "A", field: "text" })));
        assert_eq!(world.patch(&id, json!({ "title": "B" }))[field], "text", "{field}");
        assert_eq!(world.patch(&id, json!({ field: null }))[field], Value::Null, "{field}");
        assert_eq!(world.get(&id)[field], Value::Null, "{field}");
    }
    let id = world.task_in("INIT");
    for patch in
        [json!({ "title": null }), json!({ "title": "" }), json!({ "title": " " }), json!({ "status": null })]
    {
        world.invalid("task_update", json!({ "id": id, "patch": patch }));
    }
}

#[test]
fn a_patch_cannot_touch_what_the_server_keeps() {
    let mut world = World::new();
    let id = world.task_in("INIT");
    for patch in [
        json!({ "id": "z" }),
        json!({ "created_at": "2026-01-01T00:00:00.000Z" }),
        json!({ "updated_at": "2026-01-01T00:00:00.000Z" }),
        json!({ "deleted_at": null }),
        json!({ "progress": 5 }),
    ] {
        world.invalid("task_update", json!({ "id": id, "patch": patch }));
    }
}

#[test]
fn a_finished_tasks_title_can_be_mended() {
    let mut world = World::new();
    let id = world.task_in("DONE");
    let task = world.patch(&id, json!({ "title": "mended" }));
    assert_eq!((&task["title"], &task["status"]), (&json!("mended"), &json!("DONE")));
}

/// The clock of the real process cannot be set back, so the row's time is set forward, which is the same
/// to it; `server/src/domains/tasks/tests` shows the case with an injected clock.
#[test]
fn updated_at_never_goes_back() {
    let mut world = World::new();
    let id = world.task_in("INIT");
    let ahead = "2999-01-01T00:00:00.000Z";
    world.sql.execute("UPDATE tasks SET updated_at = ?2 WHERE id = ?1", (&id, ahead)).unwrap();
    assert_eq!(world.patch(&id, json!({ "title": "B" }))["updated_at"], ahead);
    assert_eq!(world.get(&id)["updated_at"], ahead);
}
