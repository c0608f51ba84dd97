//! `thought_record_list`.

use serde_json::{Value, json};

use crate::trail::world::{World, text, thought};

/// Two tasks, two sessions.
fn mixed() -> World {
    let mut world = World::new();
    world.start("R");
    for (task, session, content) in
        [("T", "S", "1"), ("U", "S", "2"), ("T", "R", "3"), ("U", "R", "4"), ("T", "S", "5")]
    {
        let mut arguments = thought(task, content);
        arguments["session_id"] = json!(session);
        world.record(arguments);
    }
    world
}

#[test]
fn filters_give_exact_subsets_oldest_first() {
    let mut world = mixed();
    for (filter, expected) in [
        (json!({}), "12345"),
        (json!({ "task_id": "T" }), "135"),
        (json!({ "session_id": "R" }), "34"),
        (json!({ "task_id": "T", "session_id": "S" }), "15"),
        (json!({ "task_id": "U", "session_id": "R" }), "4"),
    ] {
        assert_eq!(world.contents(filter.clone()).concat(), expected, "{filter}");
    }
}

#[test]
fn pages_follow_each_other_without_gap_or_repetition() {
    let mut world = World::new();
    for content in ["1", "2", "3", "4", "5"] {
        world.think("T", content);
        world.think("other", "not asked for");
    }
    let mut arguments = json!({ "task_id": "T", "limit": 2 });
    for (expected, more) in [("12", true), ("34", true), ("5", false)] {
        assert_eq!(world.contents(arguments.clone()).concat(), expected);
        let page = world.list(arguments.clone());
        assert_eq!(page["has_more"], more, "{page}");
        assert_eq!(page["next_after"].is_string(), more, "{page}");
        if more {
            let last = page["records"].as_array().unwrap().last().unwrap();
            assert_eq!(page["next_after"], last["id"]);
            arguments["after"] = page["next_after"].clone();
        }
    }
    let exact = world.list(json!({ "task_id": "T", "limit": 5 }));
    assert_eq!((&exact["has_more"], &exact["next_after"]), (&json!(false), &Value::Null));
}

/// Eight thoughts of the longest kind fill a page, however many were asked for.
#[test]
fn a_page_ends_before_it_outgrows_memory() {
    let mut world = World::new();
    let longest = "x".repeat(1_048_576);
    for _ in 0..9 {
        world.think("T", &longest);
    }
    let page = world.list(json!({ "task_id": "T" }));
    assert_eq!((&page["count"], &page["has_more"]), (&json!(8), &json!(true)));
    let rest = world.list(json!({ "task_id": "T", "after": page["next_after"] }));
    assert_eq!((&rest["count"], &rest["has_more"]), (&json!(1), &json!(false)));
}

#[test]
fn limits_are_whole_and_cursors_exist() {
    let mut world = mixed();
    for limit in [json!(0), json!(-1), json!(1.5), json!("2"), json!(10001), Value::Null] {
        world.invalid("thought_record_list", json!({ "limit": limit }));
    }
    for unknown in [
        json!({ "task_id": "nobody" }),
        json!({ "session_id": "nobody" }),
        json!({ "task_id": "\0", "session_id": "a\0b" }),
    ] {
        let page = world.list(unknown);
        assert_eq!(page, json!({ "records": [], "count": 0, "has_more": false, "next_after": null }));
    }
    let message = world.refused("thought_record_list", json!({ "after": "nope" }));
    assert_eq!(message, "ERR_CURSOR_NOT_FOUND: no thought record has the id nope");
    let message = world.refused("thought_record_list", json!({ "after": "\0" }));
    assert_eq!(message, "ERR_CURSOR_NOT_FOUND: no thought record has the id \0");
    for bad in [json!({ "task_id": "" }), json!({ "session_id": "" }), json!({ "foo": 1 })] {
        world.invalid("thought_record_list", bad);
    }
    let everything = world.list(json!({ "limit": 10000 }));
    let last = text(&everything["records"][4], "id");
    assert_eq!(world.contents(json!({ "after": last })), Vec::<String>::new());
}
