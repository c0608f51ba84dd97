//! Hostile bytes: nothing panics, and every answer is one line of valid JSON-RPC.

use colibri_runtime::wire::call::ToolCall;
use colibri_runtime::wire::era::detect;
use colibri_runtime::wire::fault::ProtocolFault;
use colibri_runtime::wire::frame::{Frame, Frames};
use colibri_runtime::wire::message::{Incoming, decode, decode_member};
use colibri_runtime::wire::params::Params;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;
use serde_json::value::RawValue;

const VALID: [&str; 5] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","arguments":{"a":[1,2.5e3,"\ud83d\ude00"],"b":null}}}"#,
    r#"{"jsonrpc":"2.0","id":"x-\u0041","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"traceparent":"00-a-b-01"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"late"}}"#,
    r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":-0.5e-7,"result":{"a":[[[{}]]]}}"#,
];

/// Read without looking into the id: `9e999` is a number in JSON, though no double holds it.
#[derive(serde::Deserialize)]
struct Reply<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    error: Value,
}

fn check_fault(fault: &ProtocolFault<'_>) {
    let line = fault.to_line();
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
    let reply: Reply<'_> = serde_json::from_slice(&line).expect("a fault's reply is JSON");
    assert_eq!(reply.jsonrpc, "2.0");
    assert!(
        reply.id.get() == "null"
            || reply.id.get().starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
    );
    assert!(reply.error["code"].is_i64() && reply.error["message"].is_string());
}

/// Takes a line as far as the chain would get it.
fn exercise(line: &[u8]) {
    take(decode(line));
}

fn take(incoming: Incoming<'_>) {
    match incoming {
        Incoming::Array(messages) => {
            messages.into_iter().for_each(|message| take(decode_member(message, false)))
        }
        Incoming::Fault(fault) => check_fault(&fault),
        Incoming::Notification(notification) => {
            let _ = notification.cancelled();
        }
        Incoming::Response => {}
        Incoming::Request(request) => {
            let params = Params::read(request.params);
            match detect(&request, &params) {
                Err(fault) => check_fault(&fault),
                Ok((era, said)) => {
                    if let Err(fault) = ToolCall::decode(request, &params, era, said) {
                        check_fault(&fault);
                    }
                }
            }
        }
    }
}

#[test]
fn every_truncation_of_a_valid_message_is_answered() {
    for message in VALID {
        exercise(message.as_bytes());
        for end in 0..message.len() {
            let line = &message.as_bytes()[..end];
            exercise(line);
            assert!(
                matches!(decode(line), Incoming::Fault(fault) if fault.code == -32700),
                "cut at {end}: {message}"
            );
        }
    }
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<prop::sample::Index>(),
        prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\u0deE+-.\n".to_vec())],
        0..3_u8,
    );
    (prop::sample::select(VALID.to_vec()), prop::collection::vec(edit, 1..6)).prop_map(|(message, edits)| {
        let mut bytes = message.as_bytes().to_vec();
        for (place, byte, kind) in edits {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ if bytes.len() > 1 => {
                    bytes.remove(at);
                }
                _ => {}
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(Config { cases: 10_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn random_bytes_never_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&line);
    }

    #[test]
    fn mutations_of_valid_messages_never_panic(line in mutated()) {
        exercise(&line);
    }
}

/// Turns two bytes in five into ones that matter to the splitter.
fn framing(byte: u8) -> u8 {
    match byte {
        0..=50 => b'\n',
        51..=75 => b'\r',
        76..=100 => b' ',
        other => other,
    }
}

proptest! {
    #![proptest_config(Config { cases: 500, failure_persistence: None, ..Config::default() })]

    #[test]
    fn splitter_finds_the_lines_a_plain_split_finds(
        stream in prop::collection::vec(any::<u8>().prop_map(framing), 0..200),
        cuts in prop::collection::vec(1..40_usize, 1..30),
    ) {
        let mut splitter = Frames::default();
        let mut found = Vec::new();
        let mut rest = stream.as_slice();
        let mut sizes = cuts.iter().cycle();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            rest = after;
            splitter.push(piece);
            found.extend(splitter.by_ref());
        }
        found.extend(splitter.finish());
        let expected: Vec<Frame> = stream
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(index, line)| {
                let line = if index == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
                line.strip_suffix(b"\r").unwrap_or(line)
            })
            .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
            .map(|line| Frame::Line(line.to_vec()))
            .collect();
        prop_assert_eq!(found, expected);
    }
}
