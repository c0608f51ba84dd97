//! Calls whose replies follow from their ids, so that a client knows each byte that it may read.

use std::path::PathBuf;

use colibri_canonical::sha256_hex;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::peer::Setup;

/// Bytes of a long reply; a relay has to pass most of it on before its end.
const LONG: usize = 100_000;
/// Of a long reply, so many bytes come before its end is written.
pub const PASSED: usize = 66_000;

/// How the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// With the arguments.
    Echo,
    /// With an answer to an id that only some clients take for the call's, and then with the true one.
    Lure,
    /// With a long reply. Its end is written once the client has most of it.
    Long,
}

/// The kind of a call.
pub fn kind(id: u64) -> Kind {
    match id % 19 {
        3 => Kind::Lure,
        7 => Kind::Long,
        _ => Kind::Echo,
    }
}

/// A file; the end of a long reply is written when it is there.
pub fn gate(setup: &Setup, id: u64) -> PathBuf {
    setup.beside(&format!("gate-{id}"))
}

/// A call as a line.
pub fn call(setup: &Setup, id: u64) -> String {
    let (tool, arguments) = match kind(id) {
        Kind::Echo => ("echo", arguments(id)),
        Kind::Lure => {
            let lure = format!("{{\"jsonrpc\":\"2.0\",\"result\":{{\"content\":[]}},\"id\":\"0x{id:x}\"}}\n");
            ("play", json!({ "steps": [{ "write": lure }, { "write": text(id) }] }))
        }
        Kind::Long => {
            let text = text(id);
            let (head, tail) = text.split_at(HEAD.len());
            let tail = &tail[LONG..];
            let mut steps = vec![json!({ "write": head }), json!({ "repeat": ["x", LONG] })];
            // While a list of tools is awaited, each line is held up to its limit: it may be that list.
            if setup.pin == "off" {
                steps.push(json!({ "await": gate(setup, id) }));
            }
            steps.push(json!({ "write": tail }));
            ("play", json!({ "steps": steps }))
        }
    };
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } });
    format!("{call}\n")
}

fn arguments(id: u64) -> Value {
    json!({ "id": id, "pad": "p".repeat((id as usize * 37) % 200) })
}

/// How a long reply begins.
const HEAD: &str = "{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[],\"long\":\"";

/// The reply as the server writes it, newline included.
pub fn text(id: u64) -> String {
    let result = match kind(id) {
        Kind::Echo => json!({ "content": [{ "type": "text", "text": arguments(id).to_string() }] }),
        Kind::Lure => json!({ "content": [{ "type": "text", "text": "the true one" }] }),
        Kind::Long => return format!("{HEAD}{}\"}},\"id\":{id}}}\n", "x".repeat(LONG)),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"result\":{result},\"id\":{id}}}\n")
}

/// An answer, as the strictest client reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub id: u64,
    /// Hash of the result or the error.
    pub hash: String,
    /// It is an error.
    pub is_error: bool,
}

/// Reads a line as an answer to a request with a number for an id.
pub fn answer(line: &[u8]) -> Option<Answer> {
    #[derive(Deserialize)]
    struct Message<'a> {
        id: u64,
        #[serde(borrow)]
        result: Option<&'a RawValue>,
        #[serde(borrow)]
        error: Option<&'a RawValue>,
    }
    let Message { id, result, error } = serde_json::from_slice(line).ok()?;
    let value = result.or(error)?;
    Some(Answer { id, hash: sha256_hex(value.get().as_bytes()), is_error: result.is_none() })
}

/// The ids of the calls among lines that the server has logged. A line without its end was not read whole.
pub fn calls(log: &[u8]) -> Vec<u64> {
    let lines = log.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let messages = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    messages
        .filter(|message| message["method"] == "tools/call")
        .filter_map(|call| call["id"].as_u64())
        .collect()
}
