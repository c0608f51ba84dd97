//! Keeps configured secrets out of messages, rows and log lines (chain#redaction).

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use colibri_visible::is_hidden;
use serde_json::{Map, Value};

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are too likely to be part of an innocent text.
pub(crate) const SHORTEST_SECRET: usize = 8;

/// Replaces every occurrence of the secrets it was given. It has no `Debug`, on purpose.
///
/// A secret is also found with white space, control characters or invisible characters between its own, and with
/// escapes of JSON (`\u0073`) or of URLs (`%73`) in their place: an echo that was wrapped or quoted still reveals it.
/// The work is at most the length of the text times that of the secrets. For a text that repeats no beginning of a
/// secret it is one look at each byte.
#[derive(Clone)]
pub struct Redactor {
    secrets: Vec<Secret>,
    /// The bytes that an occurrence can begin with, and those that can follow. They rule out most of a text.
    first: [bool; 256],
    second: [bool; 256],
    /// Texts that are public, so that they give nothing away.
    public: Arc<HashSet<&'static str>>,
}

#[derive(Clone)]
struct Secret {
    text: String,
    /// Its characters without fillers. Empty when too few are left to distinguish them from adjacent innocent words.
    bare: Vec<char>,
    /// Whether it is also searched exactly as it is written, because what looks like an escape may be literal text.
    literal: bool,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new([])
    }
}

impl Redactor {
    /// Takes the secrets; skips those under [`SHORTEST_SECRET`] bytes.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        Self::of_length(SHORTEST_SECRET, secrets)
    }

    /// Takes the secrets of at least that many bytes. One shorter than [`SHORTEST_SECRET`] is found only as it is written.
    pub fn of_length(shortest: usize, secrets: impl IntoIterator<Item = String>) -> Self {
        let long = secrets.into_iter().filter(|secret| !secret.is_empty() && secret.len() >= shortest);
        let secrets: Vec<Secret> = long.map(Secret::new).collect();
        let (mut first, mut second) = ([false; 256], [false; 256]);
        for secret in &secrets {
            let mut written = secret.text.bytes();
            written.next().into_iter().for_each(|byte| first[usize::from(byte)] = true);
            match written.next() {
                Some(byte) => second[usize::from(byte)] = true,
                None => second.fill(true),
            }
            let mut bare =
                secret.bare.iter().map(|character| character.encode_utf8(&mut [0; 4]).as_bytes()[0]);
            if let (Some(one), Some(two)) = (bare.next(), bare.next()) {
                [one, b'\\', b'%'].into_iter().for_each(|byte| first[usize::from(byte)] = true);
                second[usize::from(two)] = true;
            }
        }
        for (byte, possible) in second.iter_mut().enumerate() {
            // Fillers, escapes, and characters of more than one byte.
            *possible |= byte <= 0x20 || byte >= 0x7f || matches!(byte, 0x25 | 0x5c);
        }
        Self { secrets, first, second, public: Arc::default() }
    }

    /// Leaves these texts as they are where they stand alone. A key that equals a tool's name, a field's or a word of a list would
    /// otherwise make calls and rows unreadable, and hide nothing.
    #[must_use]
    pub fn sparing(self, public: impl IntoIterator<Item = &'static str>) -> Self {
        let public = if self.is_idle() { HashSet::new() } else { public.into_iter().collect() };
        Self { public: Arc::new(public), ..self }
    }

    /// Returns the text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() || self.public.contains(text) {
            return Cow::Borrowed(text);
        }
        let mut clean = String::with_capacity(text.len());
        let mut from = 0;
        for place in found {
            clean.push_str(&text[from..place.start]);
            clean.push_str(REDACTED);
            from = place.end;
        }
        clean.push_str(&text[from..]);
        Cow::Owned(clean)
    }

    /// Returns JSON text without secrets, still JSON: redacts its strings by their meaning, not by their escaped form.
    pub(crate) fn redact_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.find(text).is_empty() {
            return Cow::Borrowed(text);
        }
        let mut value = serde_json::from_str(text).unwrap_or_default();
        self.redact_value(&mut value);
        // A secret outside a string, a number perhaps: nothing of it stays.
        let left = !self.find(&self.without_public(&value).to_string()).is_empty();
        Cow::Owned(if left { Value::from(REDACTED).to_string() } else { value.to_string() })
    }

    /// Returns the value without the texts that are left as they are.
    fn without_public(&self, value: &Value) -> Value {
        let text =
            |text: &String| if self.public.contains(text.as_str()) { String::new() } else { text.clone() };
        match value {
            Value::String(value) => Value::String(text(value)),
            Value::Array(items) => items.iter().map(|item| self.without_public(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (text(name), self.without_public(value))).collect()
            }
            other => other.clone(),
        }
    }

    /// Cleans every text inside the values, and their names; they can hold what a client wrote. Returns whether there was a secret.
    pub(crate) fn redact_members(&self, members: &mut Map<String, Value>) -> bool {
        if self.is_idle() {
            return false;
        }
        let mut found = false;
        for value in members.values_mut() {
            found |= self.redact_value(value);
        }
        if members.keys().any(|name| matches!(self.redact(name), Cow::Owned(_))) {
            found = true;
            let named = std::mem::take(members).into_iter();
            members.extend(named.map(|(name, value)| (self.redact(&name).into_owned(), value)));
        }
        found
    }

    /// Cleans every text inside the value. Returns whether there was a secret.
    pub fn redact_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.redact(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(clean) => {
                    *text = clean;
                    true
                }
            },
            Value::Array(items) => {
                items.iter_mut().fold(false, |found, item| self.redact_value(item) | found)
            }
            Value::Object(members) => self.redact_members(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Cleans the arguments of a call. Returns the names of those that held a secret, without it.
    pub(crate) fn redact_arguments(&self, arguments: &mut Value) -> Vec<String> {
        let Value::Object(members) = arguments else {
            // Stage 2 refuses them, and they have no names.
            self.redact_value(arguments);
            return Vec::new();
        };
        if self.is_idle() {
            return Vec::new();
        }
        let mut held: Vec<String> = Vec::new();
        for (name, value) in members.iter_mut() {
            let clean = self.redact(name);
            if self.redact_value(value) | matches!(clean, Cow::Owned(_)) {
                held.push(clean.into_owned());
            }
        }
        self.redact_members(members);
        held
    }

    /// Returns whether there are no secrets to look for.
    pub(crate) fn is_idle(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Returns where secrets are, in order; overlapping places become one.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.is_idle() {
            return found;
        }
        // Every character is tried as a beginning, also inside an escape: the text before a secret must not hide it.
        let bytes = text.as_bytes();
        for (start, byte) in bytes.iter().copied().enumerate() {
            if !self.first[usize::from(byte)] {
                continue;
            }
            let next = bytes.get(start + 1).is_none_or(|next| self.second[usize::from(*next)]);
            if !next && !matches!(byte, b'\\' | b'%') {
                continue;
            }
            let longest = self.secrets.iter().filter_map(|secret| secret.length_at(text, start)).max();
            let Some(end) = longest.map(|length| start + length) else { continue };
            match found.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(end),
                _ => found.push(start..end),
            }
        }
        found
    }
}

impl Secret {
    fn new(text: String) -> Self {
        let (mut bare, mut at) = (Vec::new(), 0);
        while let Some((character, length)) = unit(&text[at..]) {
            at += length;
            if !is_filler(character) {
                bare.push(character);
            }
        }
        if bare.len() < SHORTEST_SECRET {
            bare.clear();
        }
        let literal = bare.is_empty() || text.contains(['\\', '%']);
        Self { text, bare, literal }
    }

    /// Returns the length of the occurrence that begins there, where a character begins.
    fn length_at(&self, text: &str, start: usize) -> Option<usize> {
        let rest = &text[start..];
        let literal = (self.literal && rest.starts_with(&self.text)).then_some(self.text.len());
        // A run of backslashes is examined only from its last one, however long it is.
        if self.bare.is_empty() || rest.starts_with("\\\\") {
            return literal;
        }
        self.filled_length(rest).max(literal)
    }

    /// Returns the length of the secret at the beginning of the text, fillers included.
    fn filled_length(&self, text: &str) -> Option<usize> {
        let mut at = 0;
        for (index, wanted) in self.bare.iter().enumerate() {
            loop {
                let (character, length) = unit(&text[at..])?;
                at += length;
                if character == *wanted {
                    break;
                }
                if index == 0 || !is_filler(character) {
                    return None;
                }
            }
        }
        Some(at)
    }
}

/// Returns whether a character may separate those of a secret without hiding it.
fn is_filler(character: char) -> bool {
    match character.is_ascii() {
        true => character <= ' ' || character == '\x7f',
        false => character.is_whitespace() || is_hidden(character),
    }
}

/// Returns the character that the text begins with, decoded if it is an escape, and its length.
#[inline]
fn unit(text: &str) -> Option<(char, usize)> {
    match *text.as_bytes().first()? {
        b'\\' => Some(backslash(text)),
        b'%' => {
            let decoded = hex(&text[1..], 2).filter(char::is_ascii);
            Some(decoded.map_or(('%', 1), |character| (character, 3)))
        }
        byte if byte.is_ascii() => Some((char::from(byte), 1)),
        _ => text.chars().next().map(|character| (character, character.len_utf8())),
    }
}

/// Decodes an escape of JSON. Text that was quoted twice has more than one backslash.
fn backslash(text: &str) -> (char, usize) {
    let rest = text.trim_start_matches('\\');
    let slashes = text.len() - rest.len();
    let Some(letter) = rest.chars().next() else { return ('\\', slashes) };
    match letter {
        'n' | 'r' | 't' | 'b' | 'f' => ('\n', slashes + 1),
        '"' | '\'' | '/' => (letter, slashes + 1),
        'u' => hex(&rest[1..], 4).map_or(('\\', slashes), |character| (character, slashes + 5)),
        'x' => hex(&rest[1..], 2).map_or(('\\', slashes), |character| (character, slashes + 3)),
        _ => ('\\', slashes),
    }
}

/// Returns the character whose number the text begins with, in that many hexadecimal digits; `None` for half a surrogate pair.
fn hex(text: &str, digits: usize) -> Option<char> {
    let number = text.get(..digits).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    char::from_u32(u32::from_str_radix(number, 16).ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn redacted(secrets: &[&str], text: &str) -> String {
        Redactor::new(secrets.iter().map(|secret| (*secret).to_owned())).redact(text).into_owned()
    }

    #[test]
    fn a_secret_is_found_however_it_was_wrapped_or_quoted() {
        for text in [
            "sk-1234567",
            "s k\n-\t1\r\n2\u{a0}3\u{200b}4\u{1b}567",
            "sk-1\\n2\\r\\n3\\t4567",
            "\\u0073k\\u002D1234567",
            "s\\\\u006b-1234567",
            "%73k%2d1234567",
            "\\x73k-1234567",
        ] {
            assert_eq!(redacted(&["sk-1234567"], &format!("a {text} b")), "a [redacted] b", "{text:?}");
        }
        // The text before a secret does not take its first character away.
        assert_eq!(
            redacted(&["network-key"], "\\network-key \\\\\\n\\u0065twork-key"),
            "\\[redacted] \\\\\\[redacted]"
        );
        assert_eq!(redacted(&["ba-secret"], "\\u00ba-secret"), "\\u00[redacted]");
        // Nor does a character of more than one byte, or a secret that itself contains fillers.
        assert_eq!(redacted(&["ключ-ключ"], "к люч-\\u043aлюч"), "[redacted]");
        assert_eq!(redacted(&["a\\b \"c\" d e f g"], "{\"a\\\\b \\\"c\\\" d e f g\"}"), "{\"[redacted]\"}");
    }

    #[test]
    fn secrets_that_overlap_are_one_place() {
        assert_eq!(
            redacted(&["abcdefgh", "efghijkl", "cdefghij"], "-abcdefghijkl-abcdefgh"),
            "-[redacted]-[redacted]"
        );
    }

    #[test]
    fn a_short_secret_is_found_only_as_it_is_written() {
        let short = Redactor::of_length(4, ["then".to_owned(), "ab\n\n\n\n\n\n\n\n".to_owned()]);
        assert_eq!(short.redact("the next, then"), "the next, [redacted]");
        assert_eq!(short.redact("ab"), "ab");
        assert!(Redactor::of_length(0, [String::new()]).is_idle());
    }

    #[test]
    fn json_stays_json() {
        let redactor = Redactor::new(["n-secret-key".to_owned(), "12345678".to_owned()]);
        for (text, clean) in [
            // The secret's bytes are there exactly as written.
            (r#""\n-secret-key""#, r#""[redacted]""#),
            (r#""\\n-secret-key""#, r#""\\[redacted]""#),
            (r#""\u006e-secret-key\t""#, r#""[redacted]\t""#),
            (r#"{"n-secret-key":["n-secret-key",1]}"#, r#"{"[redacted]":["[redacted]",1]}"#),
            ("7123456789", r#""[redacted]""#),
            ("1234567", "1234567"),
            (r#""a \u0062""#, r#""a \u0062""#),
        ] {
            assert_eq!(redactor.redact_json(text), clean);
        }
        let mut value = json!({ "a": { "n-secret-key": "n - secret - key" } });
        redactor.redact_value(&mut value);
        assert_eq!(value, json!({ "a": { "[redacted]": "[redacted]" } }));
    }

    #[test]
    fn a_public_text_that_stands_alone_stays() {
        let redactor = Redactor::new(["keep_note".to_owned()]).sparing(["keep_note"]);
        assert_eq!(redactor.redact("keep_note"), "keep_note");
        assert_eq!(redactor.redact("by keep_note"), "by [redacted]");
        let text = r#"{"keep_note":["keep_note",1,{"a":"keep_note"}]}"#;
        assert_eq!(redactor.redact_json(text), text);
        assert_eq!(redactor.redact_json(r#"["keep_note","a keep_note"]"#), r#"["keep_note","a [redacted]"]"#);
    }

    #[test]
    fn arguments_that_held_a_secret_are_named_without_it() {
        let redactor = Redactor::new(["n-secret-key".to_owned()]);
        let mut arguments = json!({ "a": 1, "b": ["n-secret-key"], "n-secret-key": 2 });
        assert_eq!(redactor.redact_arguments(&mut arguments), ["b", "[redacted]"]);
        assert_eq!(arguments, json!({ "a": 1, "b": ["[redacted]"], "[redacted]": 2 }));
        let mut nameless = json!(["n-secret-key"]);
        assert!(redactor.redact_arguments(&mut nameless).is_empty());
        assert_eq!(nameless, json!(["[redacted]"]));
        assert!(Redactor::default().redact_arguments(&mut arguments).is_empty());
    }

    proptest! {
        #[test]
        fn no_filler_hides_a_secret(
            secret in "[a-zA-Z0-9_-]{8,40}",
            fillers in proptest::collection::vec("[ \n\t\u{a0}\u{200b}]{0,3}|\\\\{1,3}[nrt]", 40),
            before in "\\PC{0,20}",
            after in "\\PC{0,20}",
        ) {
            let filled: String = secret.chars().zip(&fillers).flat_map(|(c, filler)| [c.to_string(), filler.clone()]).collect();
            let clean = redacted(&[&secret], &format!("{before}{filled}{after}"));
            prop_assert!(clean.contains(REDACTED), "{}", clean);
            prop_assert!(!clean.contains(filled.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() || "nrt".contains(c))));
        }

        #[test]
        fn a_text_without_a_secret_stays(text in "\\PC{0,200}") {
            prop_assert_eq!(redacted(&["sk-canary-0123456789abcdef"], &text), text);
        }
    }
}
