//! What a client receives.

use colibri_test_support::actions::action_of;
use serde_json::{Value, json};

use super::{colibri, failure, probe};

#[test]
fn ping_answers_with_its_envelope_twice() {
    let mut server = colibri().start();
    let answer = server.request("tools/call", json!({ "name": "server_ping", "arguments": {} }));
    let result = answer["result"].as_object().unwrap();
    let envelope = &result["structuredContent"];
    let data = envelope["data"].as_object().unwrap();
    assert_eq!(envelope["ok"], true);
    assert_eq!(envelope.as_object().unwrap().len(), 2, "{envelope}");
    assert_eq!(data.keys().collect::<Vec<_>>(), ["version", "mode", "uptime_ms"]);
    assert_eq!((&data["version"], &data["mode"]), (&json!(env!("CARGO_PKG_VERSION")), &json!("FULL")));
    assert!(data["uptime_ms"].as_u64().is_some(), "{envelope}");
    assert!(!result.contains_key("isError"), "{answer}");
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    assert_eq!(result["content"][0]["type"], "text");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, envelope);
}

#[test]
fn absent_and_null_arguments_are_empty_and_a_list_is_refused() {
    let mut server = colibri().start();
    for params in [json!({ "name": "server_ping" }), json!({ "name": "server_ping", "arguments": null })] {
        let answer = server.request("tools/call", params.clone());
        assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{params}: {answer}");
    }
    let envelope = server.call("server_ping", json!([]));
    assert_eq!(failure(&envelope).0, "INVALID_PARAMS");
    let issue = &envelope["error"]["details"]["issues"][0];
    assert_eq!(issue["message"], "Invalid input: expected object, received array", "{envelope}");
}

#[test]
fn an_unknown_key_is_named() {
    let mut server = colibri().start();
    let answer = server.request("tools/call", json!({ "name": "server_ping", "arguments": { "x": 1 } }));
    assert_eq!(answer["result"]["isError"], true);
    let envelope = &answer["result"]["structuredContent"];
    let text =
        "Invalid parameters for server_ping: there is no parameter \"x\". server_ping takes no parameters.";
    assert_eq!(failure(envelope), ("INVALID_PARAMS", text));
    let issue = &envelope["error"]["details"]["issues"][0];
    let expected = json!({ "code": "unrecognized_keys", "path": [], "message": "Unrecognized key: \"x\"", "keys": ["x"] });
    assert_eq!(issue, &expected);
}

#[test]
fn a_declared_error_passes_verbatim_under_handler_error() {
    let mut server = probe().start();
    let envelope = server.call("probe_fail_a", json!({ "round": 7 }));
    let details = json!({ "code": "ROUND_NOT_FOUND", "round": 7, "remedy": "Ask for another round." });
    let error = json!({ "code": "HANDLER_ERROR", "message": "ROUND_NOT_FOUND: 7", "details": details });
    assert_eq!(envelope, json!({ "ok": false, "error": error }));
    let row = action_of(&server.sql(), "probe_fail_a");
    assert_eq!(row.end(), ("error", Some("HANDLER_ERROR")));
    let hash = "10c41d22e69a92023b21dbfbc9267a5971a99f126f9e3675e66a3bd591b97a6d";
    assert_eq!(row.result_hash.as_deref(), Some(hash));
}

#[test]
fn a_pattern_b_error_is_inside_a_success_envelope() {
    let mut server = probe().start();
    let answer = server.request("tools/call", json!({ "name": "probe_fail_b" }));
    assert!(answer["result"].get("isError").is_none(), "{answer}");
    let error =
        json!({ "code": "ERR_NOT_FOUND", "message": "task not found: t1", "remedy": "Take another id." });
    let envelope = json!({ "ok": true, "data": { "ok": false, "error": error } });
    assert_eq!(answer["result"]["structuredContent"], envelope);
    let row = action_of(&server.sql(), "probe_fail_b");
    assert_eq!(row.end(), ("domain_error", Some("ERR_NOT_FOUND")));
    let hash = "162301d45aea422f7dc1b5d2065e7a777f719980c3f49570e06c805e344af1e1";
    assert_eq!(row.result_hash.as_deref(), Some(hash));
}
