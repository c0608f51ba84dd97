//! The five tools as clients see them.

use colibri::catalogue::CATALOGUE;
use colibri_runtime::chain::registry::Registry;
use colibri_test_support::client::{Launch, Server};
use serde_json::{Value, json};

use crate::consensus::world::{R, SEED_B, V, World, event, fixed_node, vote};

const TOOLS: [&str; 5] =
    ["consensus_propose", "consensus_vote", "consensus_finality", "consensus_gossip", "vrf_eval"];

/// The input schemas of consensus#propose-and-vote, consensus#vrf.
const SCHEMAS: [&str; 5] = [
    r#"{"type":"object","additionalProperties":false,"required":["event"],"properties":{"event":{"type":"object","additionalProperties":false,"required":["merkle_root_hex","rule_version_hash_hex"],"properties":{"merkle_root_hex":{"type":"string","pattern":"^[0-9a-f]{64}$"},"rule_version_hash_hex":{"type":"string","pattern":"^[0-9a-f]{64}$"}}}}}"#,
    r#"{"type":"object","additionalProperties":false,"required":["round_id","vote"],"properties":{"round_id":{"type":"string","pattern":"^[0-9]{1,78}$"},"vote":{"type":"object","additionalProperties":false,"required":["merkle_root_hex","rule_version_hash_hex","vote_type"],"properties":{"merkle_root_hex":{"type":"string","pattern":"^[0-9a-f]{64}$"},"rule_version_hash_hex":{"type":"string","pattern":"^[0-9a-f]{64}$"},"vote_type":{"type":"string","enum":["ACCEPT","REJECT","ABSTAIN"]}}},"privKey":{"type":"string","pattern":"^([0-9a-f]{2})*$","maxLength":256}}}"#,
    r#"{"type":"object","additionalProperties":false,"required":["round_id"],"properties":{"round_id":{"type":"string","pattern":"^[0-9]{1,78}$"}}}"#,
    r#"{"type":"object","additionalProperties":false,"required":["peer_id"],"properties":{"peer_id":{"type":"string","minLength":1,"maxLength":256},"events":{"type":"array","maxItems":1000,"items":{"type":"string","minLength":1,"maxLength":256}}}}"#,
    r#"{"type":"object","additionalProperties":false,"required":["seed_hex","input_hex","priv_key_hex"],"properties":{"seed_hex":{"type":"string","pattern":"^([0-9a-f]{2})*$","maxLength":1048576},"input_hex":{"type":"string","pattern":"^([0-9a-f]{2})*$","maxLength":1048576},"priv_key_hex":{"type":"string","pattern":"^([0-9a-f]{2})*$","maxLength":256}}}"#,
];

/// The listed tools, in their order.
fn listed(server: &mut Server) -> Vec<Value> {
    let answer = server.request("tools/list", json!({}));
    answer["result"]["tools"].as_array().unwrap().clone()
}

/// A schema without what only people read.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, value)| {
                let text = matches!(key.as_str(), "description" | "title" | "$schema");
                !(text && value.is_string())
            });
            Value::Object(kept.map(|(key, value)| (key.clone(), bare(value))).collect())
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        value => value.clone(),
    }
}

#[test]
fn five_tools_with_the_schemas_of_theta_14() {
    let tools = listed(&mut fixed_node().start());
    let first = tools.iter().position(|tool| tool["name"] == TOOLS[0]).expect("the first is listed");
    for (tool, (name, schema)) in tools[first..].iter().zip(TOOLS.into_iter().zip(SCHEMAS)) {
        assert_eq!(tool["name"], name, "in the order of the chapter");
        let expected: Value = serde_json::from_str(schema).unwrap();
        assert_eq!(bare(&tool["inputSchema"]), expected, "{name}");
        let writes = matches!(name, "consensus_propose" | "consensus_vote");
        let hints = json!({
            "readOnlyHint": !writes, "destructiveHint": false, "idempotentHint": !writes, "openWorldHint": false
        });
        for (hint, value) in hints.as_object().unwrap() {
            assert_eq!(&tool["annotations"][hint], value, "{name}: {hint}");
        }
    }
    assert!(tools.len() >= first + 5);
}

#[test]
fn no_tool_is_registered_twice() {
    let first = CATALOGUE.tools.iter().position(|tool| tool.name == TOOLS[0]).unwrap();
    let mut registry = Registry::of(&CATALOGUE).unwrap();
    let error = registry.register_all(&CATALOGUE.tools[first..first + 5]).unwrap_err();
    assert_eq!(error.to_string(), "tool already registered: consensus_propose");
}

/// A server in that mode on a database that has round 1, at QUORUM.
fn in_mode(mode: &str) -> Launch {
    let world = World::proposed();
    let folder = world.server.shared_folder();
    let key = folder.path().join("node.key");
    drop(world.sql);
    assert_eq!(world.server.finish().code(), 0);
    fixed_node().in_folder(folder).env("COLIBRI_CONSENSUS_KEY_FILE", key).env("COLIBRI_MODE", mode)
}

#[test]
fn those_that_can_succeed_are_listed_in_every_mode() {
    for mode in ["FULL", "TEST", "READONLY", "MINIMAL"] {
        let tools = listed(&mut in_mode(mode).start());
        let listed: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        // MINIMAL has no rounds.
        let expected = if mode == "MINIMAL" { &TOOLS[3..] } else { &TOOLS[..] };
        for tool in TOOLS {
            assert_eq!(listed.contains(&tool), expected.contains(&tool), "{mode}: {tool}");
        }
    }
}

/// A call of each that succeeds when round 1 is at QUORUM.
fn calls() -> [(&'static str, Value); 5] {
    [
        (TOOLS[0], event(R, V)),
        (TOOLS[1], vote("1", R, "ACCEPT")),
        (TOOLS[2], json!({ "round_id": "1" })),
        (TOOLS[3], json!({ "peer_id": "p" })),
        (TOOLS[4], json!({ "seed_hex": "", "input_hex": "", "priv_key_hex": SEED_B })),
    ]
}

#[test]
fn all_work_in_every_mode_but_minimal() {
    for mode in ["FULL", "TEST", "READONLY"] {
        let mut server = in_mode(mode).start();
        assert_eq!(server.data(TOOLS[0], event(R, V))["round_id"], "2", "{mode}: ids go on");
        for (tool, arguments) in calls() {
            server.data(tool, arguments);
        }
        let finality = |server: &mut Server, id| server.data(TOOLS[2], json!({ "round_id": id }));
        assert_eq!(finality(&mut server, "1")["level"], "HARD", "{mode}: the vote counts");
        assert_eq!(finality(&mut server, "3")["level"], "QUORUM", "{mode}");
    }
}

#[test]
fn minimal_admits_those_that_need_no_store() {
    let mut server = in_mode("MINIMAL").start();
    let [propose, vote, finality, gossip, vrf] = calls();
    for (tool, arguments) in [gossip, vrf] {
        server.data(tool, arguments);
    }
    for (tool, arguments) in [propose, vote, finality] {
        let envelope = server.call(tool, arguments);
        let error = &envelope["error"];
        assert_eq!(
            (&error["code"], &error["details"]["reason"]),
            (&json!("TOOL_NOT_ADMITTED"), &json!("minimal_mode"))
        );
    }
}
