//! An import is a call like any other, but no client can make it.

use serde_json::json;

use super::world::{World, gain, lines};

#[test]
fn an_import_is_one_enter_and_one_exit_and_no_tool_of_clients() {
    let world = World::new();
    let mut server = world.server();
    server.data("task_list", json!({}));
    let now = world.epoch();
    let event = [gain("e1", "alice", "bob", 500, now)];
    world.import(&event).ends(0);
    world.import_text(&lines(&event), &["--dry-run"]).ends(0);
    world.import(&[gain("e2", "alice", "colibri:x", 500, now)]).ends(2);

    let log = world.run(&["log", "--tool", "reputation_import", "--json"]).ends(0);
    let calls: Vec<serde_json::Value> =
        log.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> =
        calls.iter().map(|call| (&call["outcome"], &call["error_code"], &call["subject"])).collect();
    let expected =
        json!([["ok", null, "1-1"], ["ok", null, null], ["domain_error", "ERR_NODE_RESERVED", null]]);
    assert_eq!(json!(told), expected);
    assert!(calls.iter().all(|call| call["exit_no"].is_i64() && call["exited_at"].is_string()));
    let boots: std::collections::BTreeSet<_> =
        calls.iter().map(|call| call["boot_id"].as_str().unwrap()).collect();
    assert_eq!(boots.len(), 3, "each import has a boot id of its own");

    let listed = server.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["name"] != "reputation_import"));
    assert!(!listed.to_string().contains("reputation_import"));
    let answer =
        server.request("tools/call", json!({ "name": "reputation_import", "arguments": { "lines": [] } }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer["error"]["message"], "Unknown tool: reputation_import");
    assert_eq!(server.finish().code(), 0);
    let call = world.run(&["call", "reputation_import", "{\"lines\":[]}"]).ends(2);
    assert!(call.err.contains("there is no tool reputation_import"), "{}", call.err);
    let tools = world.run(&["tools"]).ends(0);
    assert!(!tools.out.contains("reputation_import"));
    world.run(&["verify"]).ends(0);
}

#[test]
fn help_says_what_the_commands_do() {
    let world = World::new();
    let help = world.reputation(&["--help"]).ends(0);
    for expected in ["epoch", "import", "export", "verify", "all of them or none"] {
        assert!(help.out.contains(expected), "{expected} is missing:\n{}", help.out);
    }
    let help = world.reputation(&["import", "--help"]).ends(0);
    assert!(help.out.contains("--dry-run") && help.out.contains("64 MiB"), "{}", help.out);
}
