//! Takes keys out of texts from outside before anybody sees them (delta §17): the configured ones, and whatever
//! has the shape of one. The server's last net, for configured keys in all outgoing messages, is
//! [`Redactor`](colibri_runtime::chain::redact::Redactor). Pure.

use colibri_runtime::chain::redact::REDACTED;

use crate::lifecycle::secret::Secret;

/// Shorter keys are too likely to be part of an innocent word.
const SHORTEST_KEY: usize = 4;

/// The configured keys.
#[derive(Clone, Default)]
pub struct Redaction {
    keys: Vec<Secret>,
}

impl Redaction {
    /// Takes the keys, without the spaces around them; very short ones are left out.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        let mut keys: Vec<&str> =
            keys.into_iter().map(str::trim).filter(|key| key.len() >= SHORTEST_KEY).collect();
        // A key that contains another one must go first, or its remainder stays.
        keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
        Self { keys: keys.into_iter().map(Secret::new).collect() }
    }

    /// The text without keys and without what looks like one.
    pub fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for key in &self.keys {
            clean = clean.replace(key.expose(), REDACTED);
        }
        without_shapes(&clean)
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
