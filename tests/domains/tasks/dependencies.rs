//! Dependencies between tasks.

use serde_json::json;

use crate::tasks::world::{World, id_of};

#[test]
fn a_task_waits_in_the_queue_until_its_dependency_is_done() {
    let mut world = World::new();
    let a = id_of(&world.create(json!({ "title": "A", "status": "VERIFY" })));
    let b = id_of(&world.create(json!({ "title": "B", "depends_on": [a] })));
    let data = world.server.data("task_next_actions", json!({}));
    assert_eq!(
        (&data["tasks"][0]["title"], &data["total_count"], &data["blocked_count"]),
        (&json!("A"), &json!(1), &json!(1))
    );
    // Waiting concerns the queue only.
    assert_eq!(world.go(&b, "GATHER")["status"], "GATHER");
    world.think(&a);
    world.go(&a, "DONE");
    assert_eq!(world.titles("task_next_actions", json!({})), ["B"]);

    let c = id_of(&world.create(json!({ "title": "C" })));
    let d = id_of(&world.create(json!({ "title": "D", "depends_on": [c] })));
    world.go(&c, "CANCELLED");
    assert_eq!(world.titles("task_next_actions", json!({})), ["B"]);
    assert!(world.patch(&d, json!({ "depends_on": [] })).get("depends_on").is_none());
    assert_eq!(world.titles("task_next_actions", json!({})), ["B", "D"]);
}

#[test]
fn a_cycle_is_named_and_not_stored() {
    let mut world = World::new();
    let c = id_of(&world.create(json!({ "title": "C" })));
    let b = id_of(&world.create(json!({ "title": "B", "depends_on": [c] })));
    let a = id_of(&world.create(json!({ "title": "A", "depends_on": [b] })));
    let before = world.stored();
    let error = world.refused("task_update", json!({ "id": c, "patch": { "depends_on": [a] } }));
    assert_eq!(error["code"], "ERR_DEPENDENCY_CYCLE");
    assert_eq!(error["cycle"], json!([c, a, b, c]));
    assert_eq!(error["message"], format!("These tasks would wait for each other: {c} -> {a} -> {b} -> {c}"));
    assert_eq!(error["task_id"], json!(c));
    let error = world.refused("task_update", json!({ "id": c, "depends_on": [c] }));
    assert_eq!(error["cycle"], json!([c, c]));
    assert_eq!(world.stored(), before);
}

#[test]
fn unknown_and_repeated_dependencies_are_refused() {
    let mut world = World::new();
    let known = world.task_in("INIT");
    let before = world.stored();
    let error = world.refused("task_create", json!({ "title": "A", "depends_on": ["x", known, "y"] }));
    assert_eq!(error["code"], "ERR_DEPENDENCY_NOT_FOUND");
    assert_eq!(error["missing"], json!(["x", "y"]));
    assert_eq!(error["message"], "No live task has the id x, y, so nothing can wait for it");
    assert_eq!(error.get("task_id"), Some(&json!(null)));
    let error = world
        .refused("task_update", json!({ "id": known, "patch": { "title": "new", "depends_on": ["z"] } }));
    assert_eq!((&error["missing"], &error["task_id"]), (&json!(["z"]), &json!(known)));
    assert_eq!(world.stored(), before);
    world.invalid("task_create", json!({ "title": "A", "depends_on": [known, known] }));
    let many: Vec<String> = (0..65).map(|number| number.to_string()).collect();
    world.invalid("task_create", json!({ "title": "A", "depends_on": many }));
    world.invalid("task_update", json!({ "id": known, "depends_on": many }));
}

#[test]
fn the_key_is_there_only_with_a_dependency() {
    let mut world = World::new();
    let plain = world.create(json!({ "title": "A" }));
    assert!(plain.get("depends_on").is_none());
    let id = id_of(&plain);
    let waiting = world.create(json!({ "title": "B", "depends_on": [id] }));
    assert_eq!(waiting["depends_on"], json!([id]));
    let all = world.server.data("task_list", json!({}));
    assert!(all["tasks"][0].get("depends_on").is_none(), "{all}");
    assert_eq!(all["tasks"][1]["depends_on"], json!([id]));
}
