//! Nothing secret leaves the process.

use colibri_runtime::chain::redact::REDACTED;
use colibri_test_support::actions::{action_of, actions};
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
