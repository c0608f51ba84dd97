//! What a wrapped server writes: however it arrives, the client gets the same bytes in the same pieces, and each line that is JSON
//! has the messages that a parser finds in it.

use std::collections::BTreeMap;

use colibri::wrap::flights::{Flights, Id};
use colibri::wrap::limits::METHOD_BYTES;
use colibri::wrap::lines::{Lines, Piece};
use colibri::wrap::scan::{Ending, Found, Kind, Message, Scan};
use colibri_canonical::HexDigest;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::dice::Dice;

/// Pieces of messages.
pub const TOKENS: &[&str] = &[
    "\n",
    "\r\n",
    "\u{feff}",
    "\u{2003}",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "\\",
    "\\\"",
    "\"id\":7,",
    "\"id\":\"7\"",
    "\"id\":null",
    "\"\\u0069d\":7.0e0",
    "\"ID\":7",
    "\"method\":\"x\"",
    "\"result\":",
    "\"error\":{\"code\":-1}",
    "\"resultType\":\"task\",",
    "\"isError\":true",
    "{\"id\":1,\"result\":{}}",
    "{\"result\":{\"content\":[]},\"id\":2}",
    "{\"method\":\"y\"}",
    "\\ud800",
    "NaN",
    "\u{0}",
];

/// The first byte says how long lines are held; the rest is the stream.
pub fn check(bytes: &[u8]) -> bool {
    let Some((limit, stream)) = bytes.split_first() else { return false };
    let limit = usize::from(*limit);
    let dice = Dice::of(stream);
    let whole = pieces(stream, limit, || usize::MAX);
    for most in [1, 3, 50] {
        let cut = pieces(stream, limit, || 1 + dice.place(most));
        assert_eq!(cut, whole, "in pieces of at most {most}");
    }
    let mut written = stream.to_vec();
    if stream.last().is_some_and(|last| *last != b'\n') {
        written.push(b'\n');
    }
    assert_eq!(released(&whole), written, "every byte leaves once, in order");
    let mut sound = false;
    for line in stream.split(|byte| *byte == b'\n') {
        sound |= agrees(line);
    }
    sound
}

/// The pieces of a stream that arrives in parts of those sizes; neighbours that may leave are one.
fn pieces(stream: &[u8], limit: usize, mut size: impl FnMut() -> usize) -> Vec<Piece> {
    let (mut lines, mut rest, mut found) = (Lines::default(), stream, Vec::new());
    lines.hold(limit);
    while !rest.is_empty() {
        let (part, after) = rest.split_at(size().min(rest.len()));
        rest = after;
        lines.push(part, &mut found);
    }
    lines.finish(&mut found);
    found
}

/// What leaves if every message may.
fn released(pieces: &[Piece]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Pass(part) => bytes.extend_from_slice(part),
            Piece::Held(held) => {
                assert_eq!(held.without(&[], &[]), held.bytes, "nothing is cut out of a line with messages");
                bytes.extend_from_slice(&held.bytes);
            }
            Piece::Last(byte) => bytes.push(*byte),
            Piece::Message(_) | Piece::Broken | Piece::Unfinished => {}
        }
    }
    bytes
}

/// Compares the messages that are found in a line with those of a parser, if it is JSON. Returns whether there are any.
fn agrees(line: &[u8]) -> bool {
    let (mut scan, mut rest, mut found) = (Scan::default(), line, Vec::new());
    while !rest.is_empty() {
        let (read, end) = scan.read(rest);
        assert!(read > 0 && (end.is_some() || read == rest.len()), "the scanner goes on");
        rest = &rest[read..];
        match end {
            Some(Found::Element(message)) => found.push(message),
            Some(Found::Value(_, message)) => found.extend(message),
            None => {}
        }
    }
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let expected: Vec<(usize, Pairs)> = match serde_json::from_str::<&RawValue>(text) {
        Ok(value) if value.get().starts_with('{') => pairs(text, value).into_iter().collect(),
        Ok(value) if value.get().starts_with('[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(value.get()).expect("an array");
            let objects = elements.into_iter().filter(|element| element.get().starts_with('{'));
            objects.filter_map(|object| pairs(text, object)).collect()
        }
        Ok(_) => {
            assert_eq!(found, [], "no message in {text}");
            return false;
        }
        Err(_) => return false,
    };
    for (start, pairs) in &expected {
        same(text, found.iter().find(|message| message.place.start == *start), pairs);
    }
    // Half a surrogate pair in a name is JSON, but not a text to the parser.
    let known = |message: &Message| expected.iter().any(|(start, _)| message.place.start == *start);
    assert!(found.iter().all(known) || text.contains("\\u"), "messages that are not in {text}");
    !text.is_empty()
}

/// Where an object begins in its line, with its members.
fn pairs<'a>(line: &'a str, object: &'a RawValue) -> Option<(usize, Pairs<'a>)> {
    let start = object.get().as_ptr() as usize - line.as_ptr() as usize;
    Some((start, serde_json::from_str(object.get()).ok()?))
}

/// What a message must be for its members.
fn same(line: &str, found: Option<&Message>, Pairs(pairs): &Pairs) {
    let mut members: BTreeMap<&str, &RawValue> = BTreeMap::new();
    let mut twice = false;
    for (key, value) in pairs {
        if let Some(name) =
            ["id", "method", "result", "error"].into_iter().find(|name| key.eq_ignore_ascii_case(name))
        {
            twice |= members.insert(name, value).is_some() || key != name;
        }
    }
    let has = |name: &str| members.contains_key(name);
    let null = members.get("id").is_none_or(|id| id.get() == "null");
    let answers = has("result") || has("error");
    let ambiguous = twice
        || has("result") && has("error")
        || has("method") && answers
        || !has("method") && !answers && !null;
    match found.map(|message| &message.kind) {
        Some(Kind::Ambiguous) => assert!(ambiguous, "{line}"),
        _ if ambiguous => panic!("{line}: {found:?} is ambiguous"),
        Some(Kind::Spoken(method)) => {
            let text: Option<String> = serde_json::from_str(members["method"].get()).ok();
            assert!(
                method.as_deref() == text.as_deref() || members["method"].get().len() > METHOD_BYTES,
                "{line}"
            );
        }
        Some(Kind::Unaddressed) => assert!(null && has("error"), "{line}"),
        Some(Kind::Answer(answer)) => {
            let value = members.get("result").or(members.get("error")).expect("an answer has either");
            assert_eq!(&line[answer.value.clone()], value.get(), "{line}");
            assert_eq!(answer.hash, HexDigest::of(value.get().as_bytes()), "{line}");
            assert_eq!(matches!(answer.ending, Ending::RpcError(_)), has("error"), "{line}");
            assert_eq!(answer.id, members.get("id").and_then(|id| Id::read(id.get().as_bytes())), "{line}");
            waits(answer.id.as_ref());
        }
        None => assert!(!has("method") && !answers, "{line}"),
    }
}

/// A request with the id of an answer is found, and found no more when it has ended.
fn waits(id: Option<&Id>) {
    let Some(id) = id else { return };
    let mut flights = Flights::default();
    let ticket = flights.begin(id.clone(), ());
    assert_eq!(flights.oldest(id), Some(ticket));
    assert!(flights.get(ticket).is_some_and(|(own, ())| own.as_str() == id.as_str()) && !flights.is_full());
    assert!(flights.end(ticket).is_some() && flights.oldest(id).is_none() && flights.is_empty());
}

/// The members of an object, in order, none left out.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Pairs<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
