//! Which mode answers, and what cannot be registered twice.

use colibri::catalogue::CATALOGUE;
use colibri_runtime::chain::registry::Registry;
use colibri_runtime::spec::ToolSpec;
use colibri_test_support::engine;
use serde_json::{Value, json};

use crate::reputation::world::{World, launch};

/// The four tools with arguments that fit.
fn calls() -> [(&'static str, Value); 4] {
    [
        ("reputation_get", json!({ "node_id": "alice", "current_epoch": 0 })),
        ("reputation_history", json!({ "node_id": "alice", "domain": "execution" })),
        ("reputation_leaderboard", json!({ "domain": "execution", "current_epoch": 0 })),
        ("reputation_check_gates", json!({ "node_id": "alice", "current_epoch": 0 })),
    ]
}

#[test]
fn readonly_answers_all_four_and_feeds_nothing() {
    let mut world = World::new();
    world.finished(Some("alice"), &[("alice", "plan")]);
    let open = world.task(Some("alice"));
    let written = calls().map(|(tool, arguments)| world.server.data(tool, arguments));
    assert_eq!(written[2]["rows"][0]["score"], 50);
    let folder = world.folder();
    let before = engine::contents(&folder.path().join("colibri.db"));
    // What READONLY says of the feed does not matter.
    let launch = launch().in_folder(folder.clone()).env("COLIBRI_MODE", "READONLY");
    let mut server = launch.env("COLIBRI_REPUTATION_FEED", "on").start();
    for ((tool, arguments), answer) in calls().into_iter().zip(written) {
        assert_eq!(server.data(tool, arguments), answer, "{tool}");
    }
    let refused = server.call("task_update", json!({ "id": open, "status": "DONE" }));
    assert_eq!(refused["error"]["code"], "TOOL_NOT_ADMITTED");
    assert_eq!(server.finish().code(), 0);
    assert_eq!(engine::contents(&folder.path().join("colibri.db")), before);
}

#[test]
fn minimal_denies_all_four() {
    let mut server = launch().env("COLIBRI_MODE", "MINIMAL").start();
    for (tool, arguments) in calls() {
        let envelope = server.call(tool, arguments);
        assert_eq!(envelope["error"]["code"], "TOOL_NOT_ADMITTED", "{envelope}");
        assert_eq!(envelope["error"]["details"]["reason"], "minimal_mode");
    }
}

#[test]
fn test_mode_feeds_as_full_does() {
    let mut world = World::around(launch().env("COLIBRI_MODE", "TEST").start());
    world.finished(Some("alice"), &[("alice", "plan")]);
    assert_eq!(world.score("alice", 0), 50);
}

#[test]
fn the_tools_are_registered_once() {
    let ours: Vec<&ToolSpec> = CATALOGUE.tools.iter().filter(|tool| tool.domain == "reputation").collect();
    assert_eq!(ours.len(), 4);
    let mut registry = Registry::of(&CATALOGUE).unwrap();
    let error = registry.register(ours[0]).unwrap_err();
    assert_eq!(error.to_string(), "tool already registered: reputation_get");
}

#[test]
fn the_tools_say_what_they_do() {
    let mut world = World::new();
    let answer = world.server.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let hints = json!({
        "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
    });
    for (name, title) in [
        ("reputation_get", "Read reputation"),
        ("reputation_history", "Reputation history"),
        ("reputation_leaderboard", "Leaderboard"),
        ("reputation_check_gates", "Check gates"),
    ] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let title_of = tool.get("title").unwrap_or(&tool["annotations"]["title"]);
        assert_eq!(title_of, title);
        for (hint, value) in hints.as_object().unwrap() {
            assert_eq!(&tool["annotations"][hint], value, "{name}: {hint}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
    let get = &tools.iter().find(|tool| tool["name"] == "reputation_get").unwrap()["inputSchema"];
    assert_eq!(get["required"], json!(["node_id"]));
    assert_eq!(get["properties"]["current_epoch"]["maximum"], 9_007_199_254_740_991_i64);
    let history = &tools.iter().find(|tool| tool["name"] == "reputation_history").unwrap()["inputSchema"];
    assert_eq!(history["required"], json!(["node_id", "domain"]));
    assert_eq!(
        (&history["properties"]["limit"]["default"], &history["properties"]["offset"]["default"]),
        (&json!(50), &json!(0))
    );
}
