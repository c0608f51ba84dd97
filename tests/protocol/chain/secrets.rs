//! Nothing secret leaves the process.

use colibri_runtime::chain::redact::REDACTED;
use colibri_test_support::actions::{action_of, actions};
use colibri_test_support::client::{envelope, notices};
use colibri_test_support::embed::{Recorder, Seen, Wire, block_on, converse};
use colibri_test_support::probe::{CATALOGUE, Dispatcher, Probe};
use serde_json::{Value, json};

use super::{colibri, embedded, failure, probe};

const KEY: &str = "sk-proj-0123456789abcdef";

#[test]
fn a_configured_key_is_redacted_on_the_wire_in_the_row_and_in_the_log() {
    let text = format!("the provider refused {KEY}, twice {KEY}");
    let clean = text.replace(KEY, REDACTED);
    let mut server = probe().env("COLIBRI_OPENAI_API_KEY", KEY).env("COLIBRI_LOG_LEVEL", "trace").start();
    let envelope = server.call("probe_fault", json!({ "text": text }));
    assert_eq!(failure(&envelope), ("HANDLER_ERROR", clean.as_str()));
    assert_eq!(action_of(&server.sql(), "probe_fault").error_message, Some(clean.clone()));
    let unknown = server.request("tools/call", json!({ "name": KEY }));
    assert_eq!(unknown["error"]["message"], format!("Unknown tool: {REDACTED}"));
    // Not even a part of it where a long name is cut.
    let padded = format!("{}{KEY}", "x".repeat(120));
    server.request("tools/call", json!({ "name": padded }));
    server.call("probe_fault", json!({ "text": text, "panic": true }));
    let rows = actions(&server.sql());
    let ended = server.finish();
    assert!(ended.stderr.contains(&clean), "the panic is logged, redacted: {}", ended.stderr);
    assert!(!ended.stderr.contains(KEY), "{}", ended.stderr);
    assert!(!format!("{rows:?}").contains(&KEY[..8]), "{rows:?}");
}

#[test]
fn the_details_of_an_error_are_redacted_like_its_message() {
    let mut server = colibri().env("COLIBRI_OPENAI_API_KEY", KEY).start();
    for (tool, arguments) in [
        ("server_ping", json!({ KEY: 1 })),
        ("task_get", json!({ "id": KEY })),
        ("task_get", json!({ "id": "x", "more": 1, KEY: 2 })),
        ("task_create", json!({ "title": "A", "depends_on": [KEY] })),
    ] {
        let envelope = server.call(tool, arguments.clone()).to_string();
        assert!(!envelope.contains(KEY) && envelope.contains(REDACTED), "{tool} {arguments}: {envelope}");
    }
}

/// The stored trace headers of a call with that `_meta`.
fn stored_trace(meta: &Value) -> Option<String> {
    let mut server = colibri().env("COLIBRI_OPENAI_API_KEY", KEY).start();
    server.ready_by("task_list", json!({}));
    server.request("tools/call", json!({ "name": "task_next_actions", "_meta": meta }));
    action_of(&server.sql(), "task_next_actions").trace_context
}

#[test]
fn trace_headers_are_stored_and_redacted() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let cases = [
        (json!({ "traceparent": parent }), Some(format!(r#"{{"traceparent":"{parent}"}}"#))),
        (
            json!({ "tracestate": "a=1", "traceparent": parent, "other": "x", "baggage": 7 }),
            Some(format!(r#"{{"traceparent":"{parent}","tracestate":"a=1"}}"#)),
        ),
        (json!({}), None),
        (json!({ "progressToken": 1 }), None),
        (json!({ "baggage": KEY }), Some(format!(r#"{{"baggage":"{REDACTED}"}}"#))),
    ];
    for (meta, stored) in cases {
        assert_eq!(stored_trace(&meta), stored, "{meta}");
    }
}

#[test]
fn a_sink_never_sees_a_sensitive_argument() {
    let sink = Recorder::default();
    let (mut server, wire, _folder) = embedded(&CATALOGUE, Dispatcher(Probe), &sink);
    let accepted = json!({ "privKey": "5f1d36f1" });
    let rejected = json!({ "privKey": ["5f1d36f1"], "more": 1 });
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        assert_eq!(wire.call("probe_secret", accepted).await["ok"], true);
        assert_eq!(failure(&wire.call("probe_secret", rejected).await).0, "INVALID_PARAMS");
    }));
    let arguments: Vec<Value> = sink
        .seen()
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Enter(_, arguments, _) => Some(arguments),
            Seen::Exit { .. } => None,
        })
        .collect();
    assert_eq!(arguments, [json!({ "privKey": REDACTED }), json!({ "privKey": REDACTED, "more": 1 })]);
}

#[test]
fn a_reply_says_which_arguments_held_a_configured_key() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "secrets", "version": "1" },
    });
    for meta in [None, Some(meta)] {
        let mut server = colibri().env("COLIBRI_OPENAI_API_KEY", KEY).start();
        let mut call = |arguments: Value| {
            let mut params = json!({ "name": "task_create", "arguments": arguments });
            if let Some(meta) = &meta {
                params["_meta"] = meta.clone();
            }
            server.request("tools/call", params)
        };
        let quiet = call(json!({ "title": "A" }));
        assert_eq!(quiet["result"]["content"].as_array().map(Vec::len), Some(1), "{quiet}");
        let warned = call(json!({ "title": format!("Use {KEY}"), "description": "x", "assignee": KEY }));
        assert_eq!(envelope(&warned)["data"]["title"], format!("Use {REDACTED}"));
        assert_eq!(notices(&warned), ["ARGUMENTS_REDACTED"]);
        let text = warned["result"]["content"][1]["text"].as_str().unwrap();
        assert!(text.contains("stood in title, assignee;") && !text.contains(KEY), "{text}");
        // A refused call says so, too: the mark may be what was refused.
        let refused = call(json!({ "title": "A", "priority": KEY }));
        assert_eq!(notices(&refused), ["ARGUMENTS_REDACTED"], "{refused}");
    }
}

/// A word that the catalogue makes public is not a secret, even if the operator took it for a key.
#[test]
fn a_key_that_is_a_name_of_the_catalogue_changes_neither_calls_nor_the_verdict() {
    let keys = [
        "task_create",
        "task_crea",
        "thought_record",
        "merkle_finalize",
        "agent_id",
        "session_id",
        "CANCELLED",
        "decision",
        "INVALID_PARAMS",
        "TOOL_NOT_ADMITTED",
        "WRAP_CANCELLED",
    ];
    for key in keys {
        let mut server = colibri().env("COLIBRI_OPENAI_API_KEY", key).start();
        let task = server.data("task_create", json!({ "title": "A" }))["id"].clone();
        server.data("audit_session_start", json!({ "intent": "i", "session_id": "s" }));
        let thought = json!({ "type": "decision", "task_id": task, "agent_id": "a", "session_id": "s", "content": "c" });
        server.data("thought_record", thought);
        server.data("merkle_finalize", json!({ "session_id": "s" }));
        server.data("task_update", json!({ "id": task, "status": "CANCELLED" }));
        assert_eq!(server.call("task_get", json!({}))["error"]["code"], "INVALID_PARAMS", "{key}");
        let rows = actions(&server.sql());
        assert!(rows.iter().any(|row| row.end() == ("invalid", Some("INVALID_PARAMS"))), "{key}: {rows:?}");
        let tools: Vec<String> = rows.into_iter().map(|row| row.tool).collect();
        let called =
            ["task_create", "audit_session_start", "thought_record", "merkle_finalize", "task_update"];
        assert!(called.iter().all(|name| tools.iter().any(|tool| tool == name)), "{key}: {tools:?}");
        let folder = server.shared_folder();
        server.finish();
        let verdict = colibri().in_folder(folder).arg("verify").command().output().unwrap();
        assert!(verdict.status.success(), "{key}: {}", String::from_utf8_lossy(&verdict.stdout));
    }
}
