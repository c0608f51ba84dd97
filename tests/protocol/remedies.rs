//! Case 38 of the chapter on agents: each declared error says what to do, and each call that it suggests is one that the
//! server takes (catalogue#remedies). The examples of the catalogue provoke some errors, the scenes below the others.

use std::collections::{BTreeMap, BTreeSet};

use colibri_codegen::catalogue::{Catalogue, ErrorPattern, Tool};
use colibri_test_support::client::{Launch, Server};
use serde_json::{Value, json};

use crate::catalogue_examples::{call, catalogue, execute, fresh_server};

/// Errors that take a damaged database or a broken machine; other tests provoke them.
const RARE: [(&str, &str); 6] = [
    ("consensus_propose", "CLOCK_EXHAUSTED"),
    ("consensus_vote", "CLOCK_EXHAUSTED"),
    ("consensus_vote", "CONSENSUS_STATE_CORRUPT"),
    ("consensus_finality", "CONSENSUS_STATE_CORRUPT"),
    ("vrf_eval", "VRF_FAILURE"),
    // The command refuses such a file before it makes the call.
    ("reputation_import", "ERR_JSON"),
];

/// The server's tools by name, as clients see them.
fn listed(server: &mut Server) -> BTreeMap<String, Value> {
    let answer = server.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["inputSchema"].clone())).collect()
}

/// A value that the schema takes, where an agent would put its own.
fn sample(schema: &Value) -> Value {
    match schema.get("enum") {
        Some(choices) => choices[0].clone(),
        None => json!("a"),
    }
}

/// Checks what an error says to do, and makes the calls that it suggests. Returns the error's code.
fn heed(server: &mut Server, tool: &Tool, envelope: &Value) -> String {
    let (error, said) = match tool.pattern {
        ErrorPattern::A => (&envelope["error"], &envelope["error"]["details"]),
        ErrorPattern::B => (&envelope["data"]["error"], &envelope["data"]["error"]),
        ErrorPattern::C => (&envelope["error"], &envelope["error"]),
    };
    let code = said["code"].as_str().unwrap_or_else(|| panic!("{}: {envelope}", tool.name)).to_owned();
    let declared = tool.errors.iter().find(|error| error.code == code).unwrap();
    if tool.pattern == ErrorPattern::A {
        assert_eq!(error["code"], "HANDLER_ERROR", "{envelope}");
    }
    for field in declared.fields.keys() {
        assert!(said.get(field).is_some(), "{}: no {field}: {envelope}", tool.name);
    }
    let remedy = said["remedy"].as_str().unwrap_or_else(|| panic!("no remedy: {envelope}"));
    assert!(!remedy.is_empty() && !remedy.contains('{'), "{envelope}");
    let tools = listed(server);
    let calls = said.get("next").map_or(&[][..], |next| next.as_array().unwrap());
    let depends = declared.next.iter().filter(|call| call.only_if.is_some()).count();
    let whole = calls.len() == declared.next.len() || calls.len() + depends >= declared.next.len();
    assert!(whole && said["next"] != json!([]), "no empty list, and none left out: {envelope}");
    for call in calls {
        let name = call["tool"].as_str().unwrap();
        let schema = &tools[name];
        let mut arguments = call["arguments"].clone();
        assert!(arguments.as_object().unwrap().values().all(|value| !value.is_null()), "{envelope}");
        for (asked, hint) in call.get("ask").and_then(Value::as_object).into_iter().flatten() {
            assert!(hint.is_string(), "{envelope}");
            arguments[asked] = sample(&schema["properties"][asked]);
        }
        jsonschema::validate(schema, &arguments).unwrap_or_else(|misfit| panic!("{misfit}: {envelope}"));
        // Rules across fields are not in the schema, so the server has the last word.
        let reply = server.call(name, arguments);
        let refused = reply["error"]["code"].as_str();
        assert!(!matches!(refused, Some("INVALID_PARAMS" | "TOOL_NOT_ADMITTED")), "{envelope}: {reply}");
    }
    code
}

/// The errors that examples end in, heeded.
fn of_examples(catalogue: &Catalogue) -> BTreeSet<(String, String)> {
    let mut seen = BTreeSet::new();
    for entry in catalogue.tools() {
        for example in &entry.tool.examples {
            let told =
                example.reply.pointer("/data/error/code").or(example.reply.pointer("/error/details/code"));
            if told.is_some() {
                let mut server = fresh_server();
                let envelope = execute(&mut server, catalogue, entry.tool, example).unwrap();
                let code = heed(&mut server, entry.tool, &envelope);
                seen.insert((entry.tool.name.clone(), code));
            }
        }
    }
    seen
}

fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn tuple() -> Value {
    json!({ "merkle_root_hex": "a".repeat(64), "rule_version_hash_hex": "b".repeat(64) })
}

/// A sealed session, and a task in VERIFY without a thought.
fn work(server: &mut Server) -> String {
    let thought =
        json!({ "type": "plan", "task_id": "t", "agent_id": "a", "session_id": "sealed", "content": "c" });
    server.data("audit_session_start", json!({ "session_id": "sealed", "intent": "i" }));
    server.data("thought_record", thought);
    server.data("merkle_finalize", json!({ "session_id": "sealed" }));
    let task = server.data("task_create", json!({ "title": "T", "status": "VERIFY" }))["id"].clone();
    task.as_str().unwrap().to_owned()
}

/// The calls that end in the other errors, with their tools.
fn refused_calls(task: &str, waits: &str) -> Vec<(&'static str, Value)> {
    let vote = json!({ "round_id": "9", "vote": { "merkle_root_hex": "a".repeat(64),
        "rule_version_hash_hex": "b".repeat(64), "vote_type": "ACCEPT" }, "privKey": "c".repeat(64) });
    let far = 9_007_199_254_740_991_i64;
    vec![
        ("consensus_vote", vote),
        ("merkle_finalize", json!({ "session_id": "nope" })),
        ("merkle_finalize", json!({ "session_id": "sealed" })),
        ("merkle_root", json!({ "session_id": "nope" })),
        ("reputation_leaderboard", json!({ "domain": "execution", "current_epoch": far })),
        ("reputation_check_gates", json!({ "node_id": "n", "current_epoch": far })),
        ("task_create", json!({ "title": "T", "depends_on": ["nope"] })),
        ("task_update", json!({ "id": "nope", "status": "GATHER" })),
        ("task_update", json!({ "id": task, "patch": { "status": "DONE" } })),
        ("task_update", json!({ "id": task, "depends_on": ["nope"] })),
        ("task_update", json!({ "id": task, "depends_on": [waits] })),
        (
            "thought_record",
            json!({ "type": "plan", "task_id": "t", "agent_id": "a", "session_id": "sealed", "content": "c" }),
        ),
    ]
}

/// Calls about a task that another agent holds, and about one that is over.
fn refused_claims(server: &mut Server) -> Vec<(&'static str, Value)> {
    let held = server.data("task_create", json!({ "title": "H" }))["id"].clone();
    let over = server.data("task_create", json!({ "title": "O", "status": "CANCELLED" }))["id"].clone();
    server.data("task_claim", json!({ "agent_id": "holder", "id": held }));
    vec![
        ("task_update", json!({ "id": held, "title": "T" })),
        ("task_claim", json!({ "agent_id": "a", "id": held })),
        ("task_claim", json!({ "agent_id": "a", "id": held, "claim": 9 })),
        ("task_claim", json!({ "agent_id": "a", "id": over })),
        ("task_claim", json!({ "agent_id": "a", "id": "nope" })),
        ("task_release", json!({ "id": held, "claim": 9 })),
        ("task_release", json!({ "id": "nope", "claim": 1 })),
    ]
}

/// Events that an import refuses, after one of alice in epoch 20,000 was taken.
fn refused_events(server: &mut Server) -> Vec<(&'static str, Value)> {
    let events = |node: &str, epoch: i64| {
        json!({ "lines": [{ "event_id": format!("e-{epoch}"), "node_id": node, "domain": "social", "kind": "gain",
            "delta": 300, "acker_id": "bob", "epoch": epoch, "reason": "helped" }] })
    };
    let taken = call(server, "reputation_import", events("alice", 20_000));
    assert_eq!(taken["data"]["applied"], 1, "{taken}");
    [("colibri:node", 20_000), ("alice", 19_999), ("alice", 9_007_199_254_740_991)]
        .map(|(node, epoch)| ("reputation_import", events(node, epoch)))
        .to_vec()
}

/// Makes calls that end in declared errors, and heeds those.
fn provoke(
    catalogue: &Catalogue,
    server: &mut Server,
    calls: Vec<(&'static str, Value)>,
) -> BTreeSet<(String, String)> {
    let mut seen = BTreeSet::new();
    for (name, arguments) in calls {
        let tool = catalogue.tools().find(|entry| entry.tool.name == name).unwrap().tool;
        let envelope = call(server, name, arguments);
        seen.insert((name.to_owned(), heed(server, tool, &envelope)));
    }
    seen
}

/// The errors of sound servers that no example ends in, heeded.
fn of_sound_servers(catalogue: &Catalogue) -> BTreeSet<(String, String)> {
    let mut server = launch().start();
    let task = work(&mut server);
    let waits = server.data("task_create", json!({ "title": "W", "depends_on": [task] }))["id"].clone();
    let mut calls = refused_calls(&task, waits.as_str().unwrap());
    calls.extend(refused_events(&mut server));
    calls.extend(refused_claims(&mut server));
    provoke(catalogue, &mut server, calls)
}

/// The errors of settings that cannot be used and of rows that no writer leaves, heeded.
fn of_broken_servers(catalogue: &Catalogue) -> BTreeSet<(String, String)> {
    let folder = launch().folder();
    let keyless = launch().env("COLIBRI_CONSENSUS_KEY_FILE", folder.path());
    let scenes = [
        (keyless.start(), vec![("consensus_propose", json!({ "event": tuple() }))]),
        (
            launch().env("COLIBRI_ROUTER_CANDIDATES", "file:/nonexistent").start(),
            vec![("router_score", json!({ "prompt": "x" })), ("router_call", json!({ "prompt": "x" }))],
        ),
        (
            damaged(),
            vec![
                ("reputation_get", json!({ "node_id": "n" })),
                ("reputation_check_gates", json!({ "node_id": "n" })),
                ("reputation_leaderboard", json!({ "domain": "execution" })),
                ("reputation_history", json!({ "node_id": "n", "domain": "execution" })),
            ],
        ),
    ];
    let seen = scenes.into_iter().flat_map(|(mut server, calls)| provoke(catalogue, &mut server, calls));
    seen.collect()
}

/// A server whose standings no writer has left.
fn damaged() -> Server {
    let mut server = launch().start();
    server.data("task_list", json!({}));
    let sql = "INSERT INTO reputations VALUES ('n', 'execution', 20000, 0, NULL, 0);
        INSERT INTO reputation_history (node_id, domain, epoch, delta, reason, event_id)
            VALUES ('n', 'execution', -1, 5, 'put', 'e');";
    server.sql().tamper(sql);
    server
}

#[test]
fn people_38_each_declared_error_says_what_to_do_and_suggests_calls_that_the_server_takes() {
    let catalogue = catalogue();
    let declared: BTreeSet<(String, String)> = catalogue
        .tools()
        .flat_map(|entry| entry.tool.errors.iter().map(|error| (entry.tool.name.clone(), error.code.clone())))
        .collect();
    let mut seen = of_examples(&catalogue);
    seen.extend(of_sound_servers(&catalogue));
    seen.extend(of_broken_servers(&catalogue));
    let rare = RARE.map(|(tool, code)| (tool.to_owned(), code.to_owned()));
    assert!(rare.iter().all(|error| declared.contains(error) && !seen.contains(error)));
    seen.extend(rare);
    let missing: Vec<_> = declared.difference(&seen).collect();
    assert!(missing.is_empty(), "no scene for {missing:?}");
}
