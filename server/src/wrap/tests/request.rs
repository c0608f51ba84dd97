//! The client's lines.

use colibri_canonical::HexDigest;
use serde_json::json;

use crate::wrap::flights::Id;
use crate::wrap::limits::{HOLD_BYTES, IN_FLIGHT, REQUEST_LINE_BYTES};
use crate::wrap::request::{Asked, Call, Line, Message, Requests, Told};

pub(super) fn lines(stream: &[u8]) -> Vec<Line> {
    let (mut requests, mut out) = (Requests::default(), Vec::new());
    requests.push(stream, &mut out);
    requests.finish(&mut out);
    out
}

fn one(line: &str) -> Message {
    let mut lines = lines(line.as_bytes());
    assert_eq!(lines.len(), 1, "{line}");
    let mut line = lines.remove(0);
    assert_eq!((line.messages.len(), line.batch), (1, false), "{line:?}");
    line.messages.remove(0)
}

fn id(raw: &str) -> Id {
    Id::read(raw.as_bytes()).unwrap()
}

fn call(line: &str) -> Call {
    let Message::Call(call) = one(line) else { panic!("{line}: {:?}", one(line)) };
    *call
}

fn params(params: &str) -> Call {
    call(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#))
}

fn refused(line: &str) -> (i32, Option<String>) {
    let Message::Refused(refusal) = one(line) else { panic!("{line}: {:?}", one(line)) };
    (refusal.code, refusal.id.map(|id| id.as_str().to_owned()))
}

#[test]
fn lines_keep_their_bytes() {
    let found = lines(b"\r\n{\"method\":\"x\"}\r\n \n{\"id\":1,\"method\":\"ping\"}");
    let bytes: Vec<&[u8]> = found.iter().map(|line| line.bytes.as_slice()).collect();
    assert_eq!(bytes, [&b"\r\n"[..], b"{\"method\":\"x\"}\r\n", b" \n", b"{\"id\":1,\"method\":\"ping\"}"]);
    let messages: Vec<usize> = found.iter().map(|line| line.messages.len()).collect();
    assert_eq!(messages, [0, 1, 0, 1]);
}

#[test]
fn a_call_has_its_id_name_and_hash() {
    let found =
        params(r#"{"name":"ec\u0068o","arguments":{"b":1.0,"a":"\u00e9"},"_meta":{"progressToken":1}}"#);
    assert_eq!((found.id.as_str(), &*found.name, &found.stateless), ("1", "echo", &None));
    assert_eq!(found.args_hash, HexDigest::of("{\"a\":\"é\",\"b\":1}".as_bytes()));
    let spelled = call(r#"{"params":{"name":"x"},"m\u0065thod":"tools\/call","id":"a"}"#);
    assert_eq!((spelled.id.as_str(), &*spelled.name), ("\"a\"", "x"));
}

/// The values were computed with Python's `hashlib` from the texts that are shown.
#[test]
fn args_hash_has_three_forms() {
    let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    for text in [r#"{"name":"x"}"#, r#"{"name":"x","arguments":null}"#, r#"{"arguments": { } ,"name":"x"}"#] {
        assert_eq!(params(text).args_hash.as_str(), empty, "{text}");
    }
    let text = r#"{"name":"x","arguments":{"b":[1.50,"\u0061"],"a":null}}"#;
    assert_eq!(params(text).args_hash, HexDigest::of(br#"{"a":null,"b":[1.5,"a"]}"#));
    for (text, members) in [
        (r#"{"name":"x","task":{"ttl":5}}"#, r#"{"task":{"ttl":5}}"#),
        (
            r#"{"requestState":"s","name":"x","_meta":{"a":1},"inputResponses":{"k":{"z":1,"y":2}},"arguments":{"q":1}}"#,
            r#"{"arguments":{"q":1},"inputResponses":{"k":{"y":2,"z":1}},"requestState":"s"}"#,
        ),
        (r#"{"name":"x","arguments":null,"n\u0061mes":0}"#, r#"{"arguments":null,"names":0}"#),
    ] {
        let expected = HexDigest::of(format!("colibri-call-v1\n{members}").as_bytes());
        assert_eq!(params(text).args_hash, expected, "{text}");
    }
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for text in [
        r#"{"name":"x","arguments":{"a":1,"\u0061":2}}"#.to_owned(),
        r#"{"name":"x","arguments":["\ud800"]}"#.to_owned(),
        r#"{"name":"x","\udfff":1}"#.to_owned(),
        r#"{"name":"x","task":1,"task":1}"#.to_owned(),
        format!(r#"{{"name":"x","arguments":{}}}"#, deep(128)),
    ] {
        let expected = HexDigest::of(format!("colibri-raw-v1\n{text}").as_bytes());
        assert_eq!(params(&text).args_hash, expected, "{text}");
    }
    let text = r#"{"name":"x","arguments":{"b":12345678901234567890123,"a":1e999}}"#;
    assert_eq!(params(text).args_hash, HexDigest::of(br#"{"a":1e999,"b":12345678901234567890123}"#));
    let text = format!(r#"{{"name":"x","arguments":{}}}"#, deep(127));
    assert_eq!(params(&text).args_hash, HexDigest::of(deep(127).as_bytes()));
}

#[test]
fn a_stateless_call_says_so() {
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let (info, capabilities) = (
        r#""io.modelcontextprotocol/clientInfo":{"name":"c"}"#,
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
    );
    let text = format!(r#"{{"name":"x","_meta":{{{info},"progressToken":1,{version},{capabilities}}}}}"#);
    let stateless: serde_json::Value = serde_json::from_str(&params(&text).stateless.unwrap()).unwrap();
    let expected = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "c" },
    });
    assert_eq!(stateless, expected);
    let handshake = r#"{"name":"x","_meta":{"io.modelcontextprotocol/clientInfo":{}}}"#;
    assert_eq!(params(handshake).stateless, None);
}

#[test]
fn malformed_calls_are_told_from_others() {
    for (line, usable, name) in [
        (r#"{"method":"tools/call","method":"tools/call","id":1,"params":{"name":"x"}}"#, true, Some("x")),
        (r#"{"method":"tools/call","method":"ping","id":1,"params":{"name":"x"}}"#, true, Some("x")),
        (r#"{"method":"ping","method":"tools/call","id":1,"params":{"name":"x"}}"#, true, Some("x")),
        (r#"{"method":"tools/call","METHOD":"ping","id":1,"params":{"name":"x"}}"#, true, Some("x")),
        (r#"{"method":"tools/call","id":1,"id":1,"params":{"name":"x"}}"#, false, Some("x")),
        (r#"{"method":"tools/call","id":1,"params":{},"params":{"name":"x"}}"#, true, Some("x")),
        (r#"{"method":"tools/call","id":1,"params":{"name":"w","name":"x"}}"#, true, Some("x")),
        (r#"{"method":"tools/call","id":1,"params":{"name":"w","Name":"x"}}"#, true, Some("x")),
        (
            r#"{"method":"tools/call","id":1,"params":{"name":"x","arguments":{},"arguments":{}}}"#,
            true,
            Some("x"),
        ),
        (r#"{"method":"tools/call","id":1,"params":{"name":5}}"#, true, None),
        (r#"{"method":"tools/call","id":1,"params":[]}"#, true, None),
        (r#"{"method":"tools/call","id":1}"#, true, None),
        (
            "{\"method\":\"tools/call\",\"id\":1,\"param\u{17f}\":{},\"params\":{\"name\":\"x\"}}",
            true,
            Some("x"),
        ),
        ("{\"method\":\"tools/call\",\r\"id\":1,\"params\":{\"name\":\"x\"}}\r\n", true, Some("x")),
        (r#"{"method":"tools/call","params":{"name":"x"}}"#, false, Some("x")),
        (r#"{"method":"tools/call","id":null,"params":{"name":"x"}}"#, false, Some("x")),
        (r#"{"method":"tools/call","id":true,"params":{"name":"x"}}"#, false, Some("x")),
        (r#"{"method":"tools/call","id":{},"params":{"name":"x"}}"#, false, Some("x")),
        (
            &format!(r#"{{"method":"tools/call","id":"{}","params":{{"name":"x"}}}}"#, "i".repeat(2048)),
            false,
            Some("x"),
        ),
    ] {
        let Message::BadCall(call) = one(line) else { panic!("{line}: {:?}", one(line)) };
        assert_eq!((call.id.is_some(), call.name.as_deref()), (usable, name), "{line}");
        assert_eq!(call.waits, line.contains("\"id\":"), "{line}");
    }
}

#[test]
fn other_messages_are_named_for_what_they_ask() {
    let request = |asked| Message::Request(id("1"), asked);
    for (line, expected) in [
        (r#"{"id":1,"method":"tools/list"}"#, request(Asked::Tools { cursor: None })),
        (
            r#"{"id":1,"method":"tools/list","params":{"cursor":null}}"#,
            request(Asked::Tools { cursor: None }),
        ),
        (
            r#"{"id":1,"method":"tools/list","params":{"cursor":"p2"}}"#,
            request(Asked::Tools { cursor: Some("p2".to_owned()) }),
        ),
        (r#"{"id":1,"method":"initialize","params":{}}"#, request(Asked::Initialize { client_info: None })),
        (r#"{"id":1,"method":"server/discover"}"#, request(Asked::Discover)),
        (r#"{"id":1,"method":"subscriptions/listen"}"#, request(Asked::Listen)),
        (r#"{"id":1,"method":"Tools/Call"}"#, request(Asked::Other)),
        (r#"{"id":1,"method":"x\ud800"}"#, request(Asked::Other)),
        (r#"{"method":"notifications/initialized"}"#, Message::Notification(Told::Initialized)),
        (
            r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#,
            Message::Notification(Told::Cancelled(id("7"), None)),
        ),
        (r#"{"method":"notifications/cancelled","params":{}}"#, Message::Notification(Told::Other)),
        (r#"{"method":"x"}"#, Message::Notification(Told::Other)),
        (r#"{"id":1,"result":{}}"#, Message::Answer),
        (r#"{"id":1,"id":2,"error":{}}"#, Message::Answer),
    ] {
        assert_eq!(one(line), expected, "{line}");
    }
}

#[test]
fn what_is_not_for_the_server_is_refused() {
    let deep = |levels: usize| {
        format!(r#"{{"method":"x","params":{}{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
    };
    assert_eq!(one(&deep(512)), Message::Notification(Told::Other));
    for line in [
        "{bad",
        "{} {}",
        "{\"id\":1,\"result\":2}}",
        "nul",
        "{\"a\":1,}",
        "{\"a\":\"\u{1}\"}",
        "{\"a\u{1}\":1}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "\u{feff}{}",
        "[{}",
        &deep(513),
    ] {
        assert_eq!(refused(line), (-32700, None), "{line}");
    }
    for line in
        ["{\"method\":\r\"x\"}\n", "\r{\"method\":\"x\"}\n", "{\"method\":\"x\"}\r\r\n", "{\"id\":1,\r\n"]
    {
        assert_eq!(refused(line), (-32700, None), "{line:?}");
    }
    for line in [
        "{\"id\":1,\"method\":\"x\"}}",
        "{\"id\":1,\"method\":\"x\",}",
        "{\"id\":1,\"method\":\r\"x\"}",
        &format!("{{\"id\":1,\"method\":\"x\",\"params\":{}}}", deep(512)),
    ] {
        assert_eq!(refused(line), (-32700, Some("1".to_owned())), "{line}");
    }
    let invalid = lines(b"{\"method\":\"\xff\"}\n");
    assert!(matches!(&invalid[0].messages[..], [Message::Refused(refusal)] if refusal.code == -32700));
    for (line, id) in [
        ("5", None),
        ("\"x\"", None),
        ("[]", None),
        ("{}", None),
        (r#"{"id":1}"#, Some("1")),
        (r#"{"id":1,"method":5}"#, Some("1")),
        (r#"{"id":1,"method":"a","method":"a"}"#, Some("1")),
        (r#"{"id":1,"method":"a","Method":"a"}"#, Some("1")),
        (r#"{"id":1,"method":"a","params":{},"params":{}}"#, Some("1")),
        (r#"{"id":1,"id":1,"method":"a"}"#, None),
        (r#"{"id":null,"method":"a"}"#, None),
        (&format!(r#"{{"id":"{}","method":"a"}}"#, "i".repeat(1023)), None),
    ] {
        assert_eq!(refused(line), (-32600, id.map(str::to_owned)), "{line}");
    }
}

#[test]
fn elements_of_a_batch_are_read_one_by_one() {
    let found = lines(br#"[{"id":1,"method":"ping"}, 5, [], {"method":"x"}, {"id":2,"method":"tools/call","params":{"name":"y"}}]"#);
    assert!(found[0].batch);
    assert!(matches!(
        &found[0].messages[..],
        [
            Message::Request(..),
            Message::Refused(_),
            Message::Refused(_),
            Message::Notification(_),
            Message::Call(_)
        ]
    ));
    let batch = |length: usize| lines(format!("[{}{{}}]\n", "{},".repeat(length - 1)).as_bytes()).remove(0);
    assert_eq!(batch(IN_FLIGHT).messages.len(), IN_FLIGHT);
    let long = batch(IN_FLIGHT + 1);
    assert!(
        !long.batch && matches!(&long.messages[..], [Message::Refused(refusal)] if refusal.code == -32600)
    );
}

#[test]
fn a_line_over_16_mib_is_refused_as_it_comes() {
    let refused = |start: &str| {
        let (mut requests, mut out) = (Requests::default(), Vec::new());
        let exact = format!("{start}{}", "x".repeat(REQUEST_LINE_BYTES - start.len()));
        requests.push(exact.as_bytes(), &mut out);
        assert_eq!(out, [], "the longest line");
        requests.push(b"x", &mut out);
        let [Line { bytes, messages, batch: false }] = &out[..] else { panic!("{} lines", out.len()) };
        let [Message::Refused(refusal)] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!((bytes.len(), refusal.code, refusal.message), (0, -32600, "message too large"));
        let id = refusal.id.as_ref().map(|id| id.as_str().to_owned());
        requests.push(b"\"}\n{\"method\":\"x\"}\n", &mut out);
        assert_eq!(out.len(), 2, "the next line is read");
        assert_eq!(out[1].bytes, b"{\"method\":\"x\"}\n");
        id
    };
    assert_eq!(refused(r#"{"id":7,"method":"tools/call","params":""#).as_deref(), Some("7"));
    assert_eq!(refused(r#"{"method":"tools/call","params":""#), None);
    assert_eq!(refused(r#"[{"id":7,"method":"x"},""#), None);
    // The id of an answer is the server's.
    assert_eq!(refused(r#"{"id":7,"result":""#), None);
    assert_eq!(refused(&format!(r#"{{"x":"{}","id":7,"y":""#, "x".repeat(HOLD_BYTES))), None);
}
