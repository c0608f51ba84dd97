//! JSON strings as the bytes that they stand for. Pure.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::Visitor;

/// Returns what a JSON string with its quotes stands for, in UTF-8. Half a surrogate pair keeps its three bytes, and so do bytes
/// that are not UTF-8, since some readers take both. `None` if `raw` is not a string, or holds an escape that JSON does not know.
pub(super) fn unescaped(raw: &[u8]) -> Option<Cow<'_, [u8]>> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if !inner.contains(&b'\\') {
        return Some(Cow::Borrowed(inner));
    }
    let mut reader = serde_json::Deserializer::from_slice(raw);
    let bytes = reader.deserialize_bytes(Bytes).ok()?;
    reader.end().ok()?;
    Some(Cow::Owned(bytes))
}

/// Returns whether some readers take a member's name for `name`, which is ASCII: they do not look at case. Go's fold two letters more.
pub(super) fn is_like(key: &[u8], name: &[u8]) -> bool {
    if key.is_ascii() {
        return key.eq_ignore_ascii_case(name);
    }
    let Ok(key) = std::str::from_utf8(key) else { return false };
    let folded = key.replace('\u{17f}', "s").replace('\u{212a}', "k");
    folded.as_bytes().eq_ignore_ascii_case(name)
}

/// Takes a string as bytes, so that the reader does not ask for Unicode.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}
