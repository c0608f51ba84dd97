//! Takes keys out of texts from outside before anybody sees them (router#secrets): the configured ones, and whatever
//! has the shape of one. Pure.

use std::borrow::Cow;

use colibri_runtime::chain::redact::{REDACTED, Redactor};
use serde_json::Value;

/// Shorter keys are too likely to be part of an innocent word.
const SHORTEST_KEY: usize = 4;

/// The configured keys.
#[derive(Clone, Default)]
pub struct Redaction {
    keys: Redactor,
    /// The longer ones alone, for what a model answers: a key such as `test` is a word there.
    long_keys: Redactor,
}

impl Redaction {
    /// Takes the keys, without the spaces around them; very short ones are left out.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        let keys: Vec<String> = keys.into_iter().map(|key| key.trim().to_owned()).collect();
        Self { keys: Redactor::of_length(SHORTEST_KEY, keys.clone()), long_keys: Redactor::new(keys) }
    }

    /// The text without keys and without what looks like one: for messages about a failure.
    pub fn redact(&self, text: &str) -> String {
        without_shapes(&self.keys.redact(text))
    }

    /// What a model answered, without keys. What only looks like one stays: it may be the code that was asked for.
    pub fn redact_answer(&self, text: String) -> String {
        match self.long_keys.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    /// The same for everything that a body says, before anything of it is read, joined, cut or changed in case.
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

/// The length of the shape that the text begins with, if there is one.
fn shape_length(before: Option<char>, text: &str) -> Option<usize> {
    // `task-force` holds no key.
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

/// What follows a prefix, case aside.
fn skip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The length from the beginning of `text` to the end of the run of such characters that `tail`, its end, begins
/// with; `None` when there are none.
fn run(text: &str, tail: &str, belongs: impl Fn(char) -> bool) -> Option<usize> {
    let rest = tail.trim_start_matches(belongs);
    (rest.len() < tail.len()).then(|| text.len() - rest.len())
}

fn is_value(c: char) -> bool {
    !c.is_whitespace() && !"&,;\"'<>)}]".contains(c)
}
