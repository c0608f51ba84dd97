//! The wire: revisions of the protocol, and batches of JSON-RPC.

use std::time::Duration;

use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

/// The only revision whose servers must receive batches.
const WITH_BATCHES: &str = "2025-03-26";

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// A server on a connection that has negotiated a revision.
fn connected(launch: Launch, revision: &str) -> Server {
    let mut server = launch.start();
    initialize(&mut server, revision);
    server
}

fn initialize(server: &mut Server, revision: &str) {
    let client = json!({ "name": "t", "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
    assert_eq!(server.request("initialize", params)["result"]["protocolVersion"], revision);
}

fn request(id: Value, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    request(json!(id), "tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn cancelled(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

fn ids(replies: &[Value]) -> Vec<Value> {
    replies.iter().map(|reply| reply["id"].clone()).collect()
}

/// What a batch is answered where none is received.
fn refused(message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": message } })
}

#[test]
fn finding_d1_discover_checks_the_revision_like_every_stateless_request() {
    let mut server = colibri().start();
    let meta = |version: &str| {
        json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        } })
    };
    let supported =
        server.request("server/discover", meta("2026-07-28"))["result"]["supportedVersions"].clone();
    assert_eq!(supported[0], "2026-07-28", "{supported}");
    for version in ["v999.0.0", "2024-11-04", ""] {
        for method in ["server/discover", "tools/list", "no/such"] {
            let error = server.request(method, meta(version))["error"].clone();
            assert_eq!(error["code"], -32022, "{method} {version}: {error}");
            assert_eq!(error["data"], json!({ "supported": supported, "requested": version }), "{method}");
        }
    }
}

#[test]
fn finding_d2_a_batch_is_answered_with_one_array_on_a_connection_of_2025_03_26() {
    let mut server = connected(colibri(), WITH_BATCHES);
    server.ready_by("skill_list", json!({}));
    let batch = json!([
        call(1, "task_create", json!({ "title": "A" })),
        request(json!("p"), "ping", json!({})),
        { "jsonrpc": "2.0", "method": "notifications/progress" },
        call(2, "task_list", json!({})),
        7,
        [],
        call(3, "audit_verify_chain", json!({ "session_id": "none" })),
        request(json!(4), "no/such", json!({})),
        { "jsonrpc": "2.0", "id": 9, "result": {} },
        call(5, "no_such_tool", json!({})),
        request(json!(6), "initialize", json!({})),
        call(7, "server_ping", json!({})),
    ]);
    server.send(&batch);
    let replies = server.receive_batch();
    let expected = json!([1, "p", 2, null, null, 3, 4, 5, 6, 7]);
    assert_eq!(json!(ids(&replies)), expected, "{replies:?}");
    let codes: Vec<_> = replies.iter().filter_map(|reply| reply["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [-32600, -32600, -32601, -32602, -32600], "{replies:?}");
    assert_eq!(envelope(&replies[2])["data"]["tasks"][0]["title"], "A", "a call sees those before it");
    // What comes afterwards is answered as ever, and each call has left its row in the order of arrival.
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    let rows = server
        .sql()
        .prepare("SELECT tool FROM actions ORDER BY sequence_no")
        .unwrap()
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    assert_eq!(
        rows,
        [
            "caller_begin",
            "skill_list",
            "task_create",
            "task_list",
            "audit_verify_chain",
            "no_such_tool",
            "server_ping"
        ]
    );
    assert_eq!(server.finish().code(), 0);
}

#[test]
fn finding_d2_batches_are_refused_everywhere_else() {
    let batch = json!([call(1, "task_create", json!({ "title": "A" }))]);
    let mut server = colibri().start();
    for revision in [None, Some("2024-11-05"), Some("2025-06-18"), Some("2025-11-25")] {
        if let Some(revision) = revision {
            initialize(&mut server, revision);
        }
        for line in [&batch, &json!([])] {
            server.send(line);
            assert_eq!(server.receive(), refused("Invalid Request"), "{revision:?}");
        }
    }
    // The last handshake of a connection counts.
    for (revision, array) in [(WITH_BATCHES, true), ("2025-06-18", false), (WITH_BATCHES, true)] {
        initialize(&mut server, revision);
        server.send(&batch);
        if array {
            assert_eq!(ids(&server.receive_batch()), [1])
        } else {
            server.receive();
        }
    }
}

#[test]
fn finding_d2_a_batch_without_requests_has_no_answer_and_an_empty_one_is_invalid() {
    let mut server = connected(colibri(), WITH_BATCHES);
    server.send(&json!([]));
    assert_eq!(server.receive(), refused("Invalid Request"));
    server.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }, cancelled(1)]));
    // The batch leaves nothing: the next line answers the next request.
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn finding_d2_a_batch_has_a_limit_and_an_array_that_is_cut_is_no_batch() {
    let mut server = connected(colibri(), WITH_BATCHES);
    let pings = |count: u64| Value::from_iter((0..count).map(|id| request(json!(id), "ping", json!({}))));
    server.send(&pings(64));
    assert_eq!(server.receive_batch().len(), 64);
    server.send(&pings(65));
    assert_eq!(server.receive(), refused("Invalid Request: a batch has at most 64 messages"));
    server.send_line("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_eq!(server.receive()["error"]["code"], -32700);
}

#[test]
fn finding_d2_a_cancelled_member_gets_no_answer() {
    let mut server = connected(colibri(), WITH_BATCHES);
    let create = |id| call(id, "task_create", json!({ "title": "A" }));
    server.send(&json!([create(1), create(2), cancelled(1)]));
    assert_eq!(ids(&server.receive_batch()), [2]);
    server.send(&json!([create(3), cancelled(3)]));
    assert_eq!(server.data("task_list", json!({}))["total_count"], 1, "what was cancelled was not run");
}

#[test]
fn finding_d2_a_batch_waits_for_its_network_calls_and_holds_up_nothing_else() {
    let provider = Loopback::always(Reply::silence());
    let launch = colibri()
        .env("COLIBRI_ANTHROPIC_API_KEY", "sk-none")
        .env("COLIBRI_ANTHROPIC_BASE_URL", provider.url(""));
    let mut server = connected(launch, WITH_BATCHES);
    let ask = |id| call(id, "router_call", json!({ "prompt": "ping" }));
    server.send(&json!([ask(21), call(22, "task_list", json!({})), ask(23), ask(24)]));
    provider.await_seen(1);
    assert_eq!(server.data("task_list", json!({}))["total_count"], 0);
    assert!(server.receive_within(Duration::from_millis(100)).is_none());
    // One is in flight and two wait for it; a cancelled call is not answered.
    server.send(&json!([cancelled(23), cancelled(21)]));
    provider.await_seen(2);
    server.send(&cancelled(24));
    assert_eq!(ids(&server.receive_batch()), [22]);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn finding_d2_a_batch_is_answered_when_input_ends_or_a_signal_comes() {
    let batch = json!([call(1, "task_create", json!({ "title": "A" })), call(2, "task_list", json!({}))]);
    let mut server = connected(colibri(), WITH_BATCHES);
    server.send(&batch);
    server.close_stdin();
    assert_eq!(ids(&server.receive_batch()), [1, 2]);
    assert_eq!(server.wait().code(), 0);

    let provider = Loopback::always(Reply::silence());
    let launch = colibri()
        .env("COLIBRI_ANTHROPIC_API_KEY", "sk-none")
        .env("COLIBRI_ANTHROPIC_BASE_URL", provider.url(""));
    let mut server = connected(launch, WITH_BATCHES);
    let ask = |id| call(id, "router_call", json!({ "prompt": "ping" }));
    server.send(&json!([ask(21), call(22, "task_list", json!({})), ask(23)]));
    provider.await_seen(1);
    server.data("task_list", json!({}));
    server.signal("TERM");
    // The call in flight is left behind when its time is over; the others' results still leave.
    assert_eq!(ids(&server.receive_batch()), [22, 23]);
    assert_eq!(server.wait().code(), 1);
}
