//! protocol#eras: transport and protocol, against the real binary.
//!
//! Counts and order of tools are the catalogue's. The test of a slow start runs on the probe server, whose second phase can
//! be slowed down.

use std::io::Write;
use std::process::{Output, Stdio};
use std::time::Duration;

use colibri::catalogue::CATALOGUE;
use colibri_runtime::spec::{Runs, ToolSpec};
use colibri_test_support::actions::{action_of, await_running, client_calls};
use colibri_test_support::client::{Launch, Server, envelope, response};
use serde_json::{Value, json};

const MODES: [&str; 4] = ["FULL", "READONLY", "TEST", "MINIMAL"];

/// chain#registry: names that no release may have.
const FORBIDDEN: [&str; 12] = [
    "server_info",
    "server_shutdown",
    "task_transition",
    "task_delete",
    "task_depends_on",
    "audit_session_end",
    "agent_spawn",
    "agent_status",
    "skill_get",
    "skill_invoke",
    "skill_register",
    "skill_unregister",
];

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn probe() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_probe"))
}

/// Gives a server all of its input at once; everything it wrote.
fn piped(launch: &Launch, input: &str) -> Output {
    let mut command = launch.command();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The `error` of a fault: code and id.
fn fault(answer: &Value) -> (i64, Value) {
    (answer["error"]["code"].as_i64().unwrap_or_default(), answer["id"].clone())
}

/// The server still answers, and nothing else was waiting.
fn still_answers(server: &mut Server) {
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn initialize_echoes_a_known_version_and_answers_others_with_the_newest() {
    let mut server = colibri().start();
    for (wanted, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let params = json!({ "protocolVersion": wanted, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let result = server.request("initialize", params)["result"].clone();
        assert_eq!(result["protocolVersion"], given, "{wanted}");
        let info =
            json!({ "name": "colibri", "title": CATALOGUE.title, "version": env!("CARGO_PKG_VERSION") });
        assert_eq!(result["serverInfo"], info, "{wanted}");
        assert_eq!(result["capabilities"], json!({ "tools": {} }), "{wanted}");
        let instructions = result["instructions"].as_str().unwrap();
        assert!(instructions.starts_with(&format!("{}\n\n1. ", CATALOGUE.instructions)), "{wanted}");
    }
}

#[test]
fn the_command_shows_the_tools_that_a_server_in_the_mode_lists() {
    let folder = colibri().start().shared_folder();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    for toolsets in ["", "router"] {
        for mode in MODES {
            let launch =
                colibri().in_folder(folder.clone()).env("COLIBRI_MODE", mode).env("COLIBRI_TOOLS", toolsets);
            let served = response(&piped(&launch, line).stdout)["result"]["tools"].clone();
            let run = |json: bool| {
                let output = launch.command().arg("tools").args(json.then_some("--json")).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            };
            let listed: Value = serde_json::from_str(&run(true)).unwrap();
            assert_eq!(listed, served, "{mode} {toolsets}");
            let count = format!(
                "({mode}) leaves out what cannot succeed: {} of 31.",
                served.as_array().unwrap().len()
            );
            let table = run(false);
            assert!(table.contains(&count), "{count} {table}");
        }
    }
}

#[test]
fn tools_list_is_complete_ordered_and_of_each_mode_what_can_succeed_in_it() {
    let first = colibri();
    let folder = first.folder();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    let full = piped(&first, line).stdout;
    let listed = response(&full)["result"]["tools"].as_array().unwrap().clone();
    for mode in MODES {
        let launch = colibri().in_folder(folder.clone()).env("COLIBRI_MODE", mode);
        let shown = piped(&launch, line).stdout;
        let succeeds = |tool: &&ToolSpec| match (mode, tool.runs) {
            ("FULL", _) => true,
            (_, Runs::Network { .. }) => false,
            ("READONLY", _) => !tool.mutates(),
            ("MINIMAL", _) => tool.is_free(),
            _ => true,
        };
        let names: Vec<&str> = CATALOGUE.tools.iter().filter(succeeds).map(|tool| tool.name).collect();
        let left = listed.iter().filter(|tool| names.contains(&tool["name"].as_str().unwrap()));
        assert_eq!(response(&shown)["result"]["tools"], left.cloned().collect::<Value>(), "{mode}");
    }
    let names: Vec<&str> = listed.iter().filter_map(|tool| tool["name"].as_str()).collect();
    // 27 once every domain has landed; until then as many as the catalogue holds, in its order.
    let catalogue: Vec<&str> = CATALOGUE.tools.iter().map(|tool| tool.name).collect();
    assert_eq!(names, catalogue);
    for forbidden in FORBIDDEN {
        assert!(!names.contains(&forbidden), "{forbidden}");
    }
    for tool in &listed {
        assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{tool}");
        assert!(tool["description"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint}: {tool}");
        }
    }
}

#[test]
fn replies_fit_the_published_output_schemas() {
    let mut server = colibri().start();
    let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
    let id = server.data("task_create", json!({ "title": "A" }))["id"].clone();
    let successes = [
        ("server_ping", json!({})),
        ("server_health", json!({})),
        ("task_create", json!({ "title": "B" })),
        ("task_get", json!({ "id": id })),
        ("task_get", json!({ "id": "nope" })),
        ("task_update", json!({ "id": id, "status": "GATHER" })),
        ("task_update", json!({ "id": id, "status": "DONE" })),
        ("task_list", json!({})),
        ("task_next_actions", json!({})),
    ];
    for tool in listed.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let judge = jsonschema::draft202012::new(&tool["outputSchema"]).unwrap();
        let mut envelopes = vec![server.call(name, json!({ "no such key": 1 }))];
        assert_eq!(envelopes[0]["ok"], false, "{name}");
        for (_, arguments) in successes.iter().filter(|(of, _)| *of == name) {
            envelopes.push(server.call(name, arguments.clone()));
        }
        for envelope in envelopes {
            assert!(judge.is_valid(&envelope), "{name}: {envelope}");
        }
    }
}

#[test]
fn tools_list_does_not_wait_for_the_database_and_calls_do() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "3000").start();
    let waiting = server.send_call("probe_echo", json!({ "required": "x" }));
    let listed = server.request("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    assert!(!server.stderr().contains("Phase 2 ready"), "{}", server.stderr());
    let answer = server.receive();
    assert_eq!(answer["id"], json!(waiting), "{answer}");
    assert_eq!(envelope(&answer)["data"]["given"], "x");
    server.await_stderr("[Startup] Phase 2 ready in");
}

#[test]
fn bad_json_is_a_parse_error_and_the_next_line_works() {
    let mut server = colibri().start();
    for bad in ["{bad", "nonsense", "\"\\ud800\"x"] {
        server.send_line(bad);
        let answer = server.receive();
        assert_eq!(fault(&answer), (-32700, Value::Null), "{bad}: {answer}");
        assert_eq!(answer["error"]["message"], "Parse error");
        still_answers(&mut server);
    }
    still_answers(&mut server);
}

#[test]
fn a_malformed_request_is_answered_under_its_id() {
    let mut server = colibri().start();
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    let deep = format!("\"method\":\"ping\",\"params\":{deep}}}");
    let cases: [(&[u8], i64); 5] = [
        (b"\"method\":\"\xff\"}", -32602),
        (b"\"method\":\"tools/list\",\"params\":{\"a\":\"\\ud83d\"}}", -32602),
        (deep.as_bytes(), -32602),
        (b"\"method\":\"ping\",\"params\":{\"a\":}", -32700),
        (b"\"method\":\"ping\"}}", -32700),
    ];
    for (end, code) in cases {
        server.send_bytes(&[b"{\"jsonrpc\":\"2.0\",\"id\":\"m\",", end, b"\n"].concat());
        let answer = server.receive();
        assert_eq!(fault(&answer), (code, json!("m")), "{answer}");
    }
    // No request waits under the id of an answer.
    server.send_line("{\"jsonrpc\":\"2.0\",\"id\":\"m\",\"result\":{\"a\":\"\\ud83d\"}}");
    assert_eq!(fault(&server.receive()), (-32700, Value::Null));
    still_answers(&mut server);
}

#[test]
fn a_call_whose_arguments_cannot_be_read_is_answered_under_its_id_and_leaves_a_row() {
    let meta = "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}},";
    let deep = format!("{{\"title\":{}{}}}", "[".repeat(126), "]".repeat(126));
    let many =
        format!("{{\"title\":1{},\"title\":2}}", (0..50).map(|n| format!(",\"m{n}\":0")).collect::<String>());
    let arguments: [&[u8]; 10] = [
        b"{\"title\":\"cut \\ud83d\"}",
        b"{\"title\":\"\\ude00 rest\"}",
        b"{\"title\":\"x\",\"\\ud83d\":1}",
        b"{\"title\":\"\xff\"}",
        b"{\"title\":1e400}",
        deep.as_bytes(),
        b"{\"title\":\"a\",\"title\":\"b\"}",
        b"{\"title\":\"a\",\"\\u0074itle\":\"b\"}",
        b"{\"title\":{\"a\":[{\"b\":1, \"b\" :1}]}}",
        many.as_bytes(),
    ];
    for meta in ["", meta] {
        let mut server = colibri().start();
        server.ready_by("task_list", json!({}));
        let mut hashes = Vec::new();
        for (number, arguments) in arguments.iter().enumerate() {
            let params = format!("{{{meta}\"name\":\"task_create\",\"arguments\":");
            let params = [params.as_bytes(), arguments, b"}"].concat();
            let start =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":\"c{number}\",\"method\":\"tools/call\",\"params\":");
            server.send_bytes(&[start.as_bytes(), &params, b"}\n"].concat());
            let answer = server.receive();
            assert_eq!(
                (&answer["id"], &answer["result"]["isError"]),
                (&json!(format!("c{number}")), &json!(true))
            );
            let refused = envelope(&answer)["error"].clone();
            assert_eq!(refused["code"], "INVALID_PARAMS", "{answer}");
            assert!(refused["message"].as_str().unwrap().starts_with("Invalid parameters for task_create: "));
            let text = String::from_utf8_lossy(&params);
            // A number that no double holds has its digits.
            let sent = String::from_utf8_lossy(arguments);
            let canonical = colibri_canonical::canonical_text(&sent, colibri_canonical::NumberRule::Sent);
            let hashed = canonical
                .filter(|_| sent.contains("1e400"))
                .unwrap_or_else(|| format!("colibri-raw-v1\n{text}"));
            hashes.push(colibri_canonical::sha256_hex(hashed.as_bytes()));
        }
        still_answers(&mut server);
        let rows = client_calls(&server.sql());
        let rows: Vec<_> = rows.iter().filter(|row| row.tool == "task_create").collect();
        assert!(rows.iter().all(|row| row.end() == ("invalid", Some("INVALID_PARAMS"))), "{rows:?}");
        assert_eq!(rows.iter().map(|row| row.args_hash.clone()).collect::<Vec<_>>(), hashes);
    }
}

#[test]
fn a_second_call_under_an_id_is_refused_behind_the_first_answer() {
    let mut server = probe().start();
    server.ready_by("probe_status", json!({}));
    let call = |id: Value, tool: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    // A call beside the loop, and one that would be answered at once.
    server.send(&call(json!(7), "probe_network", json!({ "ms": 300 })));
    server.send(&call(json!(7.0), "probe_echo", json!({ "required": "x" })));
    server.send(&call(json!(8), "probe_echo", json!({ "required": "x" })));
    assert_eq!(server.receive()["id"], json!(8));
    let (first, second) = (server.receive(), server.receive());
    assert_eq!((&first["id"], &first["error"]), (&json!(7), &Value::Null), "{first}");
    assert_eq!(fault(&second), (-32600, json!(7.0)), "{second}");
    let rows = client_calls(&server.sql());
    let tools: Vec<_> = rows.iter().map(|row| row.tool.as_str()).collect();
    assert_eq!(tools, ["probe_status", "probe_network", "probe_echo"]);
}

#[test]
fn a_call_that_was_withdrawn_and_done_all_the_same_has_a_note() {
    let stateless = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    for meta in [json!({}), stateless] {
        let mut server = probe().start();
        server.ready_by("probe_echo", json!({ "required": "x" }));
        let params = json!({ "name": "probe_scan", "arguments": { "ms": 2_000 }, "_meta": meta });
        let id = server.send_request("tools/call", params);
        await_running(&server, "probe_scan");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "reason": "timeout" } }));
        assert_eq!(server.receive()["id"], json!(id));
        let scan = action_of(&server.sql(), "probe_scan");
        assert_eq!(scan.end(), ("ok", None));
        let sql = "SELECT about, kind, body FROM call_notes";
        let note = server
            .sql()
            .query_row(sql, [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
            })
            .unwrap();
        assert_eq!((note.0, note.1.as_str()), (scan.sequence_no, "withdrawn"));
        let body: Value = serde_json::from_str(&note.2).unwrap();
        assert_eq!(body["reason_hash"], colibri_canonical::sha256_hex(b"timeout"), "{body}");
    }
}

#[test]
fn a_malformed_message_of_an_array_spoils_no_other() {
    let mut server = colibri().start();
    server.request("initialize", json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }));
    let call = |id: u8, title: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"task_create\",\"arguments\":{{\"title\":\"{title}\"}}}}}}"
        )
    };
    server.send_line(&format!("[{},{}]", call(61, "cut \\ud83d"), call(62, "whole")));
    let answers = server.receive_batch();
    let ends: Vec<_> =
        answers.iter().map(|answer| (answer["id"].clone(), envelope(answer)["ok"].clone())).collect();
    assert_eq!(ends, [(json!(61), json!(false)), (json!(62), json!(true))]);
}

#[test]
fn batches_and_other_values_are_invalid_requests() {
    let mut server = colibri().start();
    for bad in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "7", "null", "\"ping\""] {
        server.send_line(bad);
        let answer = server.receive();
        assert_eq!(fault(&answer), (-32600, Value::Null), "{bad}: {answer}");
    }
    still_answers(&mut server);
}

#[test]
fn unknown_methods_are_named_with_their_id() {
    let mut server = colibri().start();
    for method in ["resources/list", "prompts/list", "logging/setLevel", "shutdown"] {
        server.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": method }));
        let answer = server.receive();
        assert_eq!(fault(&answer), (-32601, json!(5)), "{method}");
        assert_eq!(answer["error"]["message"], format!("Method not found: {method}"));
    }
}

#[test]
fn calls_without_a_usable_name_are_refused_and_leave_no_row() {
    let mut server = colibri().start();
    let cases = [json!({}), json!({ "name": 7 }), json!({ "name": "" }), json!({ "name": null }), json!([1])];
    for params in cases {
        let answer = server.request("tools/call", params.clone());
        assert_eq!(fault(&answer).0, -32602, "{params}: {answer}");
        let text = "Invalid params: tools/call requires a non-empty string \"name\"";
        assert_eq!(answer["error"]["message"], text, "{params}");
    }
    server.data("task_list", json!({}));
    assert_eq!(client_calls(&server.sql()).len(), 1, "only the call with a name");
}

#[test]
fn too_long_lines_are_refused_and_the_next_one_answered() {
    let mut server = colibri().start();
    let mut line = vec![b'x'; 5 * 1024 * 1024];
    line.push(b'\n');
    server.send_bytes(&line);
    let answer = server.receive();
    assert_eq!(fault(&answer), (-32600, Value::Null), "{answer}");
    assert_eq!(answer["error"]["message"], "Invalid Request: message too large");
    still_answers(&mut server);
}

#[test]
fn a_call_before_initialize_succeeds() {
    let mut server = colibri().start();
    assert_eq!(server.data("server_ping", json!({}))["mode"], "FULL");
}

#[test]
fn a_call_without_an_id_is_not_run() {
    let mut server = colibri().start();
    server.ready_by("task_list", json!({}));
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "task_create", "arguments": { "title": "A" } } }),
    );
    assert_eq!(server.data("task_list", json!({}))["total_count"], 0);
    let rows = client_calls(&server.sql());
    assert!(rows.iter().all(|row| row.tool == "task_list") && rows.len() == 2, "{rows:?}");
    let ended = server.finish();
    assert_eq!(ended.rest, Vec::<Value>::new());
    assert_eq!(ended.warnings().len(), 1, "{}", ended.stderr);
}

#[test]
fn ids_come_back_unchanged() {
    let launch = colibri();
    for id in ["9007199254740993", "\"x\"", "123456789012345678901234567890", "-1", "\"\\u00e9\"", "1.50"] {
        for (method, params) in [("ping", "{}"), ("tools/call", r#"{"name":"server_ping"}"#)] {
            let line =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n");
            let out = String::from_utf8(piped(&launch, &line).stdout).unwrap();
            assert!(out.contains(&format!("\"id\":{id},")), "{id} {method}: {out}");
        }
    }
}

#[test]
fn ten_piped_requests_are_all_answered_in_order_before_a_clean_exit() {
    let requests: String = (1..=10)
        .map(|id| {
            let arguments = json!({ "title": format!("task {id}") });
            let params = json!({ "name": "task_create", "arguments": arguments });
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
        })
        .collect();
    let out = piped(&colibri(), &requests);
    let ids: Vec<Value> = out
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|l| response(l)["id"].clone())
        .collect();
    assert_eq!(ids, (1..=10).map(|id| json!(id)).collect::<Vec<_>>());
    assert_eq!(out.status.code(), Some(0));
    let log = String::from_utf8(out.stderr).unwrap();
    assert!(log.lines().last().unwrap().ends_with("[Shutdown] Clean"), "{log}");
}

#[test]
fn stdout_holds_nothing_but_responses() {
    let mut server = probe().start();
    server.send_line("{bad");
    server.send_call("probe_fault", json!({ "text": "on purpose", "panic": true }));
    server.send_call("task_delete", json!({}));
    server.send_call("probe_network", json!({ "ms": 1, "then": "panic" }));
    server.send_call("probe_echo", json!({ "required": "x" }));
    // Every line that comes is checked by the client; five are due.
    for _ in 0..5 {
        server.receive();
    }
    server.signal("TERM");
    let ended = server.wait();
    assert_eq!((ended.code(), ended.rest), (0, Vec::new()), "{}", ended.stderr);
}

#[test]
fn the_stateless_era_is_served_beside_the_handshake() {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let meta = json!({ version: "2026-07-28", capabilities: {} });
    let mut server = colibri().start();

    let discovered = server.request("server/discover", json!({ "_meta": meta }))["result"].clone();
    assert_eq!(discovered["supportedVersions"][0], "2026-07-28", "{discovered}");
    assert_eq!(discovered["resultType"], "complete", "{discovered}");
    let called = server.request("tools/call", json!({ "name": "server_ping", "_meta": meta }));
    assert_eq!(envelope(&called)["ok"], true);
    assert_eq!(called["result"]["resultType"], "complete", "{called}");

    for method in ["ping", "initialize"] {
        let answer = server.request(method, json!({ "_meta": meta }));
        assert_eq!(fault(&answer).0, -32601, "{method}: {answer}");
    }
    let answer = server.request("tools/list", json!({ "_meta": { version: "2026-07-28" } }));
    assert_eq!(fault(&answer).0, -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains(capabilities), "{answer}");
    let unknown = json!({ "_meta": { version: "2099-01-01", capabilities: {} } });
    let answer = server.request("tools/list", unknown);
    assert_eq!(fault(&answer).0, -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["requested"], "2099-01-01", "{answer}");
    assert_eq!(answer["error"]["data"]["supported"].as_array().unwrap().len(), 5, "{answer}");
    // The other era goes on as before.
    still_answers(&mut server);
    assert!(server.receive_within(Duration::from_millis(1)).is_none());
}
