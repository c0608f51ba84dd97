//! Writes answers: one JSON-RPC message, one line, one buffer (protocol#framing, chain#envelopes).
//!
//! Ids, results and envelopes come as JSON text and are copied as they are: nothing is parsed again.

use std::fmt::Write as _;

use colibri_canonical::escape::{push_escaped, push_string};

/// A successful answer. `result` is compact JSON text.
pub fn encode_result(id: &str, result: &str) -> Vec<u8> {
    let mut line = start(Some(id), result.len() + 16);
    line.push_str("\"result\":");
    line.push_str(result);
    end(line)
}

/// An error answer; no id is written as `null`. `data` is compact JSON text.
pub fn encode_error(id: Option<&str>, code: i32, message: &str, data: Option<&str>) -> Vec<u8> {
    let mut line = start(id, message.len() + data.map_or(0, str::len) + 64);
    // Writing to a String cannot fail.
    let _ = write!(line, "\"error\":{{\"code\":{code},\"message\":");
    push_string(&mut line, message);
    if let Some(data) = data {
        line.push_str(",\"data\":");
        line.push_str(data);
    }
    line.push('}');
    end(line)
}

/// The answer to a tool call: the envelope as `structuredContent` and, escaped, as a text block. A notice is a second text block.
///
/// `envelope` is compact JSON text; `extras` are further members of the result, as `,"name":value`
/// text (the stateless era's, see [`Protocol`](super::protocol::Protocol)), or empty.
pub fn encode_tool_result(
    id: &str,
    envelope: &str,
    is_error: bool,
    notice: Option<&str>,
    extras: &str,
) -> Vec<u8> {
    let mut line = start(Some(id), 2 * envelope.len() + envelope.len() / 4 + extras.len() + 128);
    line.push_str("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
    push_escaped(&mut line, envelope);
    push_notice(&mut line, notice);
    line.push_str("\"}],\"structuredContent\":");
    line.push_str(envelope);
    if is_error {
        line.push_str(",\"isError\":true");
    }
    line.push_str(extras);
    line.push('}');
    end(line)
}

/// The answer to a tool call that failed, without structured content: `text` is a text block. A notice is a second one.
pub fn encode_tool_failure(id: &str, text: &str, notice: Option<&str>, extras: &str) -> Vec<u8> {
    let mut line = start(Some(id), text.len() + text.len() / 4 + extras.len() + 96);
    line.push_str("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
    push_escaped(&mut line, text);
    push_notice(&mut line, notice);
    line.push_str("\"}],\"isError\":true");
    line.push_str(extras);
    line.push('}');
    end(line)
}

/// Ends a text block and begins another one with the notice, if there is one.
fn push_notice(line: &mut String, notice: Option<&str>) {
    if let Some(notice) = notice {
        line.push_str("\"},{\"type\":\"text\",\"text\":\"");
        push_escaped(line, notice);
    }
}

fn start(id: Option<&str>, room: usize) -> String {
    let id = id.unwrap_or("null");
    let mut line = String::with_capacity(id.len() + room + 32);
    line.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    line.push_str(id);
    line.push(',');
    line
}

fn end(mut line: String) -> Vec<u8> {
    line.push_str("}\n");
    line.into_bytes()
}
