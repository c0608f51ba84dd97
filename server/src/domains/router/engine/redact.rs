//! Redacts keys from provider responses (router#secrets): the configured ones, and texts that have the form of a key.
//! Pure.

use std::borrow::Cow;

use colibri_runtime::chain::redact::{REDACTED, Redactor};
use serde_json::Value;

/// Shorter keys are too likely to be part of an ordinary word.
const SHORTEST_KEY: usize = 4;

/// The configured keys.
#[derive(Clone, Default)]
pub struct Redaction {
    keys: Redactor,
    /// The longer keys alone, for answers of models, in which a key such as `test` is a word.
    long_keys: Redactor,
}

impl Redaction {
    /// Takes the keys, without surrounding spaces; ignores very short ones.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        let keys: Vec<String> = keys.into_iter().map(|key| key.trim().to_owned()).collect();
        Self { keys: Redactor::of_length(SHORTEST_KEY, keys.clone()), long_keys: Redactor::new(keys) }
    }

    /// Redacts keys and texts that look like keys, for error messages.
    pub fn redact(&self, text: &str) -> String {
        without_shapes(&self.keys.redact(text))
    }

    /// Redacts keys from a model's answer. A text that only looks like a key stays: it may be the requested code.
    pub fn redact_answer(&self, text: String) -> String {
        match self.long_keys.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    /// Redacts keys from all texts of a body, before any of them is read, joined, cut or changed in case.
    pub fn redact_body(&self, body: &mut Value) {
        self.long_keys.redact_value(body);
    }
}

/// Replaces `Bearer <token>`, `sk-…`, `AIza…`, `x-api-key: …` and `key=…`.
fn without_shapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let before = clean.chars().next_back();
        if let Some(length) = shape_length(before, rest) {
            clean.push_str(REDACTED);
            rest = &rest[length..];
        } else {
            clean.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    clean
}

/// Returns the length of the key-like text at the beginning, if any.
fn shape_length(before: Option<char>, text: &str) -> Option<usize> {
    // `task-force` contains no key.
    let at_word = !before.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
    if at_word && let Some(rest) = skip(text, "bearer") {
        let token = rest.trim_start_matches(' ');
        if token.len() < rest.len() {
            return run(text, token, |c| c.is_ascii_alphanumeric() || "-._~+/=".contains(c));
        }
    }
    if at_word && (text.starts_with("sk-") || text.starts_with("AIza")) {
        let token = text.trim_start_matches("sk-");
        return run(text, token, |c| c.is_ascii_alphanumeric() || "-_".contains(c));
    }
    if let Some(rest) =
        skip(text, "api-key").or_else(|| skip(text, "x-api-key")).or_else(|| skip(text, "x-goog-api-key"))
        && let Some(value) = rest.trim_start_matches(['"', '\'', ' ']).strip_prefix(':')
    {
        return run(text, value.trim_start_matches([' ', '"', '\'']), is_value);
    }
    let value = skip(text, "key=")?;
    run(text, value, is_value)
}

/// Returns the text after a prefix, ignoring case.
fn skip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns the length from the beginning of `text` to the end of the run of matching characters at the start of
/// `tail`. `tail` is the end of `text`. `None` if the run is empty.
fn run(text: &str, tail: &str, belongs: impl Fn(char) -> bool) -> Option<usize> {
    let rest = tail.trim_start_matches(belongs);
    (rest.len() < tail.len()).then(|| text.len() - rest.len())
}

fn is_value(c: char) -> bool {
    !c.is_whitespace() && !"&,;\"'<>)}]".contains(c)
}
