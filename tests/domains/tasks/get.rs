//! `task_get`, and what deletion leaves.

use serde_json::json;

use crate::tasks::world::{World, id_of};

#[test]
fn a_task_reads_back_as_it_was_created() {
    let mut world = World::new();
    let first = world.create(json!({ "title": "A" }));
    let task = world.create(json!({
        "title": "B", "status": "PLAN", "project_id": "", "description": "two\nlines", "priority": "p1",
        "assignee": "ada", "depends_on": [first["id"]],
    }));
    assert_eq!(world.get(&id_of(&first)), first);
    assert_eq!(world.get(&id_of(&task)), task);
}

#[test]
fn an_id_that_names_no_live_task_is_not_found() {
    let mut world = World::new();
    let deleted = id_of(&world.create(json!({ "title": "A" })));
    world.delete(&deleted);
    for id in ["00000000-0000-7000-8000-000000000000", "nope", &deleted] {
        let error = world.refused("task_get", json!({ "id": id }));
        assert_eq!(error["code"], "ERR_NOT_FOUND");
        assert_eq!(error["message"], format!("There is no task {id}"));
        assert_eq!(error["task_id"], id);
    }
    for arguments in [json!({ "id": "" }), json!({}), json!({ "id": 5 })] {
        world.invalid("task_get", arguments);
    }
}

#[test]
fn a_deleted_task_takes_no_update_and_no_row_a_foreign_status() {
    let mut world = World::new();
    let id = id_of(&world.create(json!({ "title": "A" })));
    let foreign = world.sql.execute("UPDATE tasks SET status = 'FOO' WHERE id = ?1", [&id]).unwrap_err();
    assert!(foreign.is_of_a_check(), "{foreign}");
    world.delete(&id);
    let error = world.refused("task_update", json!({ "id": id, "patch": { "title": "new" } }));
    assert_eq!(error["code"], "ERR_NOT_FOUND");
}
