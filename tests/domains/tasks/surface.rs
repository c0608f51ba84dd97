//! What of the tasks is a tool, and what a failing store looks like.

use serde_json::json;

use crate::tasks::world::{World, launch};

/// The case's half about skills is in `skills`.
#[test]
fn there_are_eight_task_tools_and_no_other() {
    let mut world = World::new();
    let answer = world.server.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    let mut tasks: Vec<&str> = names.into_iter().filter(|name| name.starts_with("task_")).collect();
    tasks.sort_unstable();
    let expected = ["claim", "create", "get", "history", "list", "next_actions", "release", "update"]
        .map(|name| format!("task_{name}"));
    assert_eq!(tasks, expected);
    for name in ["task_delete", "task_transition", "task_depends_on"] {
        let answer = world.server.request("tools/call", json!({ "name": name, "arguments": {} }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(name), "{answer}");
    }
}

/// READONLY audits into memory, so the log stays intact while the table goes away underneath.
#[test]
fn a_failing_store_is_pattern_a() {
    let first = World::new();
    let mut reader = World::around(launch().beside(&first.server).env("COLIBRI_MODE", "READONLY").start());
    reader.sql.execute_batch("ALTER TABLE tasks RENAME TO elsewhere").unwrap();
    for (tool, arguments) in
        [("task_list", json!({})), ("task_next_actions", json!({})), ("task_get", json!({ "id": "x" }))]
    {
        let envelope = reader.server.call(tool, arguments);
        assert_eq!(envelope["ok"], false, "{tool}: {envelope}");
        assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{tool}: {envelope}");
        let message = envelope["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("STORAGE_FAILURE: "), "{tool}: {message}");
        assert!(!message.contains("SELECT") && !message.contains("elsewhere"), "{tool}: {message}");
    }
}
