//! What a client writes to `wrap`: however it arrives, it is the same lines with the same messages; no byte is lost, and what is
//! refused for not being JSON is what a parser refuses.

use colibri::wrap::limits::REQUEST_DEPTH;
use colibri::wrap::request::{Line, Message, Requests};
use colibri_runtime::wire::scan;
use serde_json::value::RawValue;

use crate::dice::Dice;

/// Pieces of messages.
pub const TOKENS: &[&str] = &[
    "\n",
    "\r\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"id\":7,",
    "\"id\":1e999,",
    "\"ID\":7,",
    "\"method\":\"tools/call\",",
    "\"method\":\"tools\\/call\",",
    "\"method\":\"tools/list\",",
    "\"method\":\"notifications/cancelled\",",
    "\"params\":{\"name\":\"x\"}",
    "\"params\":{",
    "\"name\":\"x\",",
    "\"arguments\":{\"a\":1e999}",
    "\"arguments\":{},",
    "\"task\":{}",
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"},",
    "\"requestId\":7",
    "\"result\":{}",
    "\\ud800",
    "null",
    "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}",
];

/// Takes the stream in pieces of one, of few and of many bytes, and as a whole.
pub fn check(stream: &[u8]) -> bool {
    let dice = Dice::of(stream);
    let whole = lines(stream, || usize::MAX);
    for most in [1, 3, 50] {
        assert_eq!(lines(stream, || 1 + dice.place(most)), whole, "in pieces of at most {most}");
    }
    assert_eq!(whole.iter().map(|line| line.bytes.as_slice()).collect::<Vec<_>>().concat(), stream);
    let mut called = false;
    for line in &whole {
        let json = std::str::from_utf8(&line.bytes)
            .ok()
            .and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
        let sound = json.is_some() && scan::check_nesting(&line.bytes, REQUEST_DEPTH).is_ok();
        match line.messages.as_slice() {
            [] => assert!(line.bytes.trim_ascii().is_empty(), "{line:?}"),
            messages => {
                let refused =
                    |message: &Message| matches!(message, Message::Refused(_) | Message::BadCall(_));
                assert!(sound || messages.iter().all(refused), "{line:?}");
                called |= messages.iter().any(|message| matches!(message, Message::Call(_)));
            }
        }
    }
    called
}

fn lines(stream: &[u8], mut size: impl FnMut() -> usize) -> Vec<Line> {
    let (mut requests, mut rest, mut found) = (Requests::default(), stream, Vec::new());
    while !rest.is_empty() {
        let (part, after) = rest.split_at(size().min(rest.len()));
        rest = after;
        requests.push(part, &mut found);
    }
    requests.finish(&mut found);
    found
}
