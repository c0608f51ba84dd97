//! `task_next_actions`.

use serde_json::json;

use crate::tasks::world::{STATES, World, id_of};

#[test]
fn the_worked_example_comes_out_in_order() {
    let mut world = World::new();
    let mut ids = std::collections::HashMap::new();
    // In the order of the chapter's days, which is that of creation.
    for (title, status, priority) in [
        ("t1", "INIT", None),
        ("t3", "VERIFY", Some("low")),
        ("t5", "VERIFY", Some("critical")),
        ("t6", "INIT", Some("whatever")),
        ("t8", "CANCELLED", None),
        ("t9", "INIT", Some("critical")),
        ("t2", "PLAN", Some("high")),
        ("t7", "APPLY", Some("high")),
        ("t4", "GATHER", Some("CRITICAL")),
    ] {
        let id = id_of(&world.create(json!({ "title": title, "status": status, "priority": priority })));
        ids.insert(title, id);
    }
    world.patch(&ids["t2"], json!({ "depends_on": [ids["t7"]] }));
    world.think(&ids["t5"]);
    world.go(&ids["t5"], "DONE");
    world.delete(&ids["t9"]);
    assert_eq!(world.titles("task_next_actions", json!({})), ["t4", "t7", "t1", "t6", "t3"]);
    let data = world.server.data("task_next_actions", json!({ "limit": 2 }));
    assert_eq!(data["tasks"].as_array().unwrap().len(), 2);
    assert_eq!((&data["total_count"], &data["blocked_count"]), (&json!(5), &json!(1)));
}

#[test]
fn only_live_states_are_actionable() {
    let mut world = World::new();
    for status in STATES {
        world.task_in(status);
    }
    let data = world.server.data("task_next_actions", json!({}));
    let states: Vec<&str> =
        data["tasks"].as_array().unwrap().iter().map(|task| task["status"].as_str().unwrap()).collect();
    assert_eq!(states, &STATES[..6]);
    assert_eq!((&data["total_count"], &data["blocked_count"]), (&json!(6), &json!(0)));
}

/// Equal priorities keep the order of insertion, whether their times are equal or run backwards.
#[test]
fn equal_priorities_keep_insertion_order() {
    let mut world = World::new();
    let titles = ["d", "b", "a", "c"];
    for (title, hour) in titles.into_iter().zip([9, 9, 3, 1]) {
        let id = id_of(&world.create(json!({ "title": title, "priority": "high" })));
        world.created_at(&id, &format!("2026-01-01T{hour:02}:00:00.000Z"));
    }
    assert_eq!(world.titles("task_next_actions", json!({})), titles);
    assert_eq!(world.titles("task_list", json!({})), titles);
}

#[test]
fn asking_for_the_queue_changes_nothing() {
    let mut world = World::new();
    let empty = json!({ "tasks": [], "total_count": 0, "blocked_count": 0 });
    assert_eq!(world.server.data("task_next_actions", json!({})), empty);
    for limit in [0, 101] {
        world.invalid("task_next_actions", json!({ "limit": limit }));
    }
    world.create(json!({ "title": "A", "assignee": "ada" }));
    world.create(json!({ "title": "B" }));
    let before = world.stored();
    let first = world.server.data("task_next_actions", json!({}));
    assert_eq!(world.server.data("task_next_actions", json!({})), first);
    assert_eq!(world.stored(), before);
    assert_eq!(world.titles("task_next_actions", json!({ "assignee": "ada" })), ["A"]);
    assert_eq!(world.titles("task_next_actions", json!({ "assignee": null })), ["B"]);
}
