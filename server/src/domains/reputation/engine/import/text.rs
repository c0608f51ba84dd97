//! Parses a file as lines of JSON. Refuses an object that repeats a key, because the intended value is unknown
//! (rules#canonical-text). Pure.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::catalogue::ReputationImportError;

/// The largest file that is read, in bytes (reputation#import).
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The most characters of a parser's message that are repeated; it may contain a piece of the line.
const REASON_CHARS: usize = 160;

/// Parses the lines of a file, each as one JSON value; a blank line is `null`.
///
/// # Errors
/// The first line that is not JSON.
pub fn lines(text: &[u8]) -> Result<Vec<Value>, ReputationImportError> {
    // A file may begin with a byte order mark, which is not part of its first line.
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut lines = text.split(|byte| *byte == b'\n').collect::<Vec<_>>();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let read = (1..)
        .zip(lines)
        .map(|(line, bytes)| value(bytes).map_err(|reason| ReputationImportError::ErrJson { line, reason }));
    read.collect()
}

fn value(line: &[u8]) -> Result<Value, String> {
    if line.iter().all(|byte| byte.is_ascii_whitespace()) {
        return Ok(Value::Null);
    }
    match serde_json::from_slice(line) {
        // Only a blank line may stand for null.
        Ok(Strict(Value::Null)) => Err("expected an object, found null".to_owned()),
        Ok(Strict(value)) => Ok(value),
        Err(error) => Err(cut(&error.to_string())),
    }
}

/// Removes the parser's line number, because it always parses a single line.
fn cut(reason: &str) -> String {
    let reason = reason.replace(" at line 1 column ", " at column ");
    match reason.char_indices().nth(REASON_CHARS) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason,
    }
}

/// A value whose objects repeat no key.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Strict, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        Ok(Strict(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(Value::String(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Strict, E> {
        Ok(Strict(Value::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strict, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Strict(Value::Array(array)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Strict, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} stands there twice")));
            }
            object.insert(key, value);
        }
        Ok(Strict(Value::Object(object)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_values_and_blank_ones_null() {
        let text =
            b"\xEF\xBB\xBF{\"a\":[1,-2,1.5,18446744073709551615,true,null,\"\\u00e9\"]}\r\n\n  \t\r\n{}";
        let expected = vec![
            json!({ "a": [1, -2, 1.5, u64::MAX, true, null, "é"] }),
            Value::Null,
            Value::Null,
            json!({}),
        ];
        assert_eq!(lines(text), Ok(expected));
        assert_eq!(lines(b""), Ok(vec![]));
        assert_eq!(lines(b"\n"), Ok(vec![Value::Null]));
    }

    #[test]
    fn what_is_no_json_is_told_with_its_line() {
        let deep = "[".repeat(200);
        let cases = [
            ("{}\n{\"a\":1,\"a\":1}", 2, "the key \"a\" stands there twice at column 13"),
            ("{\"a\":{\"b\":1,\"\\u0062\":2}}", 1, "the key \"b\" stands there twice at column"),
            ("\n\n{", 3, "EOF while parsing an object at column 1"),
            ("null", 1, "expected an object, found null"),
            ("{} {}", 1, "trailing characters at column 4"),
            ("1e999", 1, "number out of range at column"),
            (&deep, 1, "recursion limit exceeded"),
        ];
        for (text, expected_line, expected) in cases {
            let Err(ReputationImportError::ErrJson { line, reason }) = lines(text.as_bytes()) else {
                panic!("{text}");
            };
            assert_eq!(line, expected_line, "{text}");
            assert!(reason.starts_with(expected), "{text}: {reason}");
        }
        assert!(lines(b"\"\xFF\"").is_err());
    }
}
