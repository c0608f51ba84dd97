//! `task_list`.

use serde_json::{Value, json};

use crate::tasks::world::{World, id_of};

#[test]
fn an_empty_table_lists_nothing() {
    let mut world = World::new();
    let data = world.server.data("task_list", json!({}));
    assert_eq!(data, json!({ "tasks": [], "total_count": 0, "limit": 100, "offset": 0, "has_more": false }));
}

#[test]
fn pages_are_oldest_first_and_join_up() {
    let mut world = World::new();
    for title in ["a", "b", "c", "d", "e"] {
        world.create(json!({ "title": title }));
    }
    let mut all = Vec::new();
    for (offset, more) in [(0, true), (2, true), (4, false)] {
        let data = world.server.data("task_list", json!({ "limit": 2, "offset": offset }));
        assert_eq!(data["has_more"], json!(more), "offset {offset}");
        assert_eq!(
            (&data["limit"], &data["offset"], &data["total_count"]),
            (&json!(2), &json!(offset), &json!(5))
        );
        all.extend(data["tasks"].as_array().unwrap().iter().map(|task| task["title"].clone()));
    }
    assert_eq!(Value::Array(all), json!(["a", "b", "c", "d", "e"]));
    let beyond = world.server.data("task_list", json!({ "offset": 99 }));
    assert_eq!(
        (&beyond["tasks"], &beyond["total_count"], &beyond["has_more"]),
        (&json!([]), &json!(5), &json!(false))
    );
}

#[test]
fn filters_are_joined_by_and() {
    let mut world = World::new();
    for (title, status, project) in [
        ("a", "INIT", json!("x")),
        ("b", "PLAN", json!("x")),
        ("c", "PLAN", json!("X")),
        ("d", "PLAN", Value::Null),
        ("e", "PLAN", json!("")),
    ] {
        world.create(json!({ "title": title, "status": status, "project_id": project }));
    }
    assert_eq!(world.titles("task_list", json!({ "status": "PLAN", "project_id": "x" })), ["b"]);
    assert_eq!(world.titles("task_list", json!({ "project_id": "x" })), ["a", "b"]);
    assert_eq!(world.titles("task_list", json!({ "project_id": null })), ["d"]);
    assert_eq!(world.titles("task_list", json!({ "project_id": "X" })), ["c"]);
    assert_eq!(world.titles("task_list", json!({ "status": "PLAN" })), ["b", "c", "d", "e"]);
}

#[test]
fn deleted_tasks_show_only_when_asked_for() {
    let mut world = World::new();
    world.create(json!({ "title": "kept" }));
    let gone = id_of(&world.create(json!({ "title": "gone" })));
    world.delete(&gone);
    assert_eq!(world.titles("task_list", json!({})), ["kept"]);
    let all = world.server.data("task_list", json!({ "include_deleted": true }));
    assert_eq!(all["total_count"], 2);
    assert_eq!(all["tasks"][1]["id"], json!(gone));
    assert!(all["tasks"][1]["deleted_at"].is_string(), "{all}");
}

#[test]
fn bounds_of_the_filter_are_checked() {
    let mut world = World::new();
    for arguments in [
        json!({ "limit": 0 }),
        json!({ "limit": 501 }),
        json!({ "limit": -1 }),
        json!({ "limit": 1.5 }),
        json!({ "limit": "10" }),
        json!({ "offset": -1 }),
        json!({ "status": "done" }),
    ] {
        world.invalid("task_list", arguments);
    }
    assert_eq!(world.server.data("task_list", json!({ "limit": 10.0 }))["limit"], 10);
}
