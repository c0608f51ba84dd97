//! Decoding of messages: the table of protocol#faults.

use colibri_runtime::chain::call::Flaw;
use colibri_runtime::wire::fault::ProtocolFault;
use colibri_runtime::wire::message::{Incoming, Request, decode, decode_lossy, decode_member};
use colibri_runtime::wire::reply::{encode_error, encode_result, encode_tool_failure, encode_tool_result};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The reply that a refused line gets, or what else it is.
fn outcome(line: &[u8]) -> Value {
    match decode(line) {
        Incoming::Fault(fault) => reply_of(&fault),
        Incoming::Request(Request { id, method, flaw: None, .. }) => json!(["request", id.as_str(), method]),
        Incoming::Request(Request { id, flaw: Some(_), .. }) => json!(["flawed", id.as_str()]),
        Incoming::Notification(notification) => json!(["notification", notification.method]),
        Incoming::Response => json!(["response"]),
        Incoming::Array(messages) => json!(["array", messages.len()]),
    }
}

fn reply_of(fault: &ProtocolFault<'_>) -> Value {
    let line = fault.to_line();
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(line.last(), Some(&b'\n'));
    let reply: Value = serde_json::from_slice(&line).unwrap();
    json!([reply["error"]["code"], reply["error"]["message"], reply["id"]])
}

#[test]
fn faults_follow_the_table() {
    let parse = json!([-32700, "Parse error", null]);
    let invalid = |id: Value| json!([-32600, "Invalid Request", id]);
    let cases: Vec<(&[u8], Value)> = vec![
        // protocol#faults
        (b"{bad", parse.clone()),
        (b"", parse.clone()),
        (b"[1,", parse),
        // protocol#arrays; what becomes of an array depends on the connection
        (b"[]", json!(["array", 0])),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}, 7]", json!(["array", 2])),
        (b"7", invalid(json!(null))),
        (b"-7.5", invalid(json!(null))),
        (b"\"ping\"", invalid(json!(null))),
        (b"true", invalid(json!(null))),
        (b"null", invalid(json!(null))),
        (b"{}", invalid(json!(null))),
        (b"{\"id\":1,\"method\":\"ping\"}", invalid(json!(1))),
        (b"{\"jsonrpc\":\"1.0\",\"id\":\"x\",\"method\":\"ping\"}", invalid(json!("x"))),
        (b"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", invalid(json!(1))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1}", invalid(json!(1))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", invalid(json!(1))),
        (b"{\"jsonrpc\":\"2.0\",\"method\":7}", invalid(json!(null))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", invalid(json!(null))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", invalid(json!(null))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", invalid(json!(null))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"method\":\"ping\"}", invalid(json!(null))),
    ];
    for (line, expected) in cases {
        assert_eq!(outcome(line), expected, "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn a_malformed_request_is_answered_under_its_id_if_that_can_be_read() {
    let parse = |id: Value| json!([-32700, "Parse error", id]);
    let invalid = |id: Value| json!([-32600, "Invalid Request", id]);
    let request = |end: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"{end}");
    let cases = [
        (request(",\"params\":{\"a\":\"\\ud800\"}}"), json!(["flawed", "1"])),
        (request(",\"params\":{\"a\":\"\\udc00\\ud800\"}}"), json!(["flawed", "1"])),
        (request(",\"\\ud83d\":1}"), json!(["flawed", "1"])),
        (request(",\"params\":{\"a\":1,\"\\u0061\":1}}"), json!(["flawed", "1"])),
        (request(",\"params\":[{\"b\":[{}],\"a\":1 , \"b\"\t:1}]}"), json!(["flawed", "1"])),
        (request(",\"x\":1,\"x\":2}"), json!(["flawed", "1"])),
        (request(",\"method\":\"ping\"}"), invalid(json!(1))),
        (request(",\"params\":{},\"params\":{}}"), invalid(json!(1))),
        // It may be read under either id, so it is answered under none.
        (request(",\"id\":1}"), invalid(json!(null))),
        (request(",\"a\":1,\"a\":1"), parse(json!(1))),
        (request(",\"params\":{\"a\":{\"b\":\"a\"},\"b\":[\"a\",\"a\"]}}"), json!(["request", "1", "ping"])),
        (request("} x"), parse(json!(1))),
        (request(",}"), parse(json!(1))),
        (request(",\"params\":{\"a\":"), parse(json!(1))),
        (request(",\"params\":01}"), parse(json!(1))),
        ("{\"jsonrpc\":\"2.0\",\"id\":01,\"method\":\"ping\"}".to_owned(), parse(json!(null))),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\tb\"}".to_owned(), parse(json!(null))),
        // An answer's id is another one's than that of a request.
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\\ud800\"}}".to_owned(), parse(json!(null))),
        (request(",\"error\":[}"), parse(json!(null))),
    ];
    for (line, expected) in cases {
        assert_eq!(outcome(line.as_bytes()), expected, "{line}");
    }
    let lossy = request(",\"params\":\"\u{fffd}\"}");
    let Incoming::Request(read) = decode_lossy(&lossy) else { panic!("a request") };
    assert_eq!((read.id.as_str(), read.flaw), ("1", Some(Flaw::NotUtf8)));
    // An id that is not UTF-8 cannot be repeated as it was sent.
    let Incoming::Fault(fault) =
        decode_lossy("{\"jsonrpc\":\"2.0\",\"id\":\"\u{fffd}\",\"method\":\"ping\"}")
    else {
        panic!("a fault")
    };
    assert_eq!(fault.id, None);
    let member = serde_json::value::RawValue::from_string(lossy).unwrap();
    let Incoming::Request(read) = decode_member(&member, true) else { panic!("a request") };
    assert_eq!(read.flaw, Some(Flaw::NotUtf8), "a member is not taken with other text than was sent");
}

#[test]
fn messages_are_told_apart() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, json!(["request", "1", "ping"])),
        (
            r#" { "method" : "a/\u0062" , "id" : "x" , "jsonrpc" : "2\u002e0" } "#,
            json!(["request", "\"x\"", "a/b"]),
        ),
        (r#"{"jsonrpc":"2.0","\u0069d":7,"method":"ping"}"#, json!(["request", "7", "ping"])),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            json!(["notification", "notifications/initialized"]),
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, json!(["response"])),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}"#, json!(["response"])),
        (
            r#"{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"ping"}"#,
            json!(["request", r#""\ud83d\ude00""#, "ping"]),
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(outcome(line.as_bytes()), expected, "{line}");
    }
}

#[test]
fn nesting_beyond_128_is_refused() {
    let nested = |levels: usize| {
        let inner = levels - 1;
        let params = format!("{}{}", "[".repeat(inner), "]".repeat(inner));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#)
    };
    assert_eq!(outcome(nested(128).as_bytes())[0], "request");
    assert_eq!(outcome(nested(129).as_bytes())[0], "flawed");
    assert_eq!(outcome("[".repeat(3_000_000).as_bytes())[0], -32700);
    // Brackets inside strings are text.
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}\"{}"}}"#, "[".repeat(200), "{".repeat(200));
    assert_eq!(outcome(text.as_bytes())[0], "request");
}

#[test]
fn cancellation_names_a_request() {
    let cancelled = |params: &str| {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        match decode(line.as_bytes()) {
            Incoming::Notification(notification) => notification.cancelled().map(|id| id.as_str().to_owned()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(cancelled(r#"{"requestId":"a","reason":"x"}"#).as_deref(), Some("\"a\""));
    assert_eq!(cancelled(r#"{"requestId":9007199254740993}"#).as_deref(), Some("9007199254740993"));
    for params in [r#"{"requestId":null}"#, "{}", "[]", "null", "7"] {
        assert_eq!(cancelled(params), None, "{params}");
    }
}

#[test]
fn ids_match_by_what_they_mean() {
    let line = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let same = |left: &str, right: &str| {
        let (left, right) = (line(left), line(right));
        match (decode(left.as_bytes()), decode(right.as_bytes())) {
            (Incoming::Request(left), Incoming::Request(right)) => left.id.matches(&right.id),
            other => panic!("{other:?}"),
        }
    };
    assert!(same("\"a\"", "\"\\u0061\""));
    assert!(same("7", "7"));
    assert!(!same("7", "\"7\""));
    assert!(!same("9007199254740993", "9007199254740992"));
}

#[test]
fn tool_result_is_one_line_with_one_text_block() {
    let envelope = r#"{"ok":true,"data":"a\nb \"é\" \\ \u2028"}"#;
    let line = encode_tool_result("\"x\"", envelope, false, None, "");
    let reply: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(reply["id"], "x");
    let result = reply["result"].as_object().unwrap();
    assert_eq!(result.keys().collect::<Vec<_>>(), ["content", "structuredContent"]);
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    assert_eq!(result["content"][0]["type"], "text");
    assert_eq!(result["content"][0]["text"], envelope);
    assert_eq!(result["structuredContent"], serde_json::from_str::<Value>(envelope).unwrap());
    let failed: Value = serde_json::from_slice(&encode_tool_result("1", "{}", true, None, "")).unwrap();
    assert_eq!(failed["result"]["isError"], true);
}

#[test]
fn a_failure_without_envelope_is_a_text_alone() {
    let text = "{\"error\":{\"code\":\"NO\"}}";
    let line = encode_tool_failure("7", text, None, ",\"resultType\":\"complete\"");
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    let reply: Value = serde_json::from_slice(&line).unwrap();
    let content = serde_json::json!([{ "type": "text", "text": text }]);
    let wanted = serde_json::json!({ "content": content, "isError": true, "resultType": "complete" });
    assert_eq!((&reply["id"], &reply["result"]), (&serde_json::json!(7), &wanted));
}

#[test]
fn replies_are_written_byte_for_byte() {
    assert_eq!(encode_result("7", "{}"), b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
    assert_eq!(
        encode_error(None, -32700, "Parse \"error\"", None),
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse \\\"error\\\"\"}}\n"
    );
    assert_eq!(
        encode_error(Some("1"), -1, "x", Some("[1]")),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"x\",\"data\":[1]}}\n"
    );
}

fn request(line: &[u8]) -> Request<'_> {
    match decode(line) {
        Incoming::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn number_ids_come_back_byte_for_byte(id in r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?") {
        let line = format!(r#"{{"jsonrpc":"2.0","id": {id} ,"method":"ping"}}"#);
        let request = request(line.as_bytes());
        prop_assert_eq!(request.id.as_str(), &id);
        let reply = String::from_utf8(encode_result(request.id.as_str(), "{}")).unwrap();
        prop_assert_eq!(reply, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"));
    }

    #[test]
    fn string_ids_come_back_byte_for_byte(text in any::<String>(), escaped in any::<bool>()) {
        let id = if escaped {
            let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{units}\"")
        } else {
            serde_json::to_string(&text).unwrap()
        };
        let line = format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#);
        let request = request(line.as_bytes());
        prop_assert_eq!(request.id.as_str(), &id);
    }
}
