//! Keeps configured secrets out of messages, rows and log lines (alpha §2.3).

use std::borrow::Cow;

use serde_json::{Map, Value};

/// What stands in a secret's place.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are too likely to be part of an innocent text.
pub const SHORTEST_SECRET: usize = 8;

/// Replaces every occurrence of the secrets it was given. It has no `Debug`, on purpose.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// Takes the secrets; those under [`SHORTEST_SECRET`] bytes are left out.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> =
            secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET).collect();
        // A secret that contains another one must go first, or its remainder stays.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// The text without secrets.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in &self.secrets {
            if clean.contains(secret.as_str()) {
                clean = Cow::Owned(clean.replace(secret.as_str(), REDACTED));
            }
        }
        clean
    }

    /// Cleans every text inside the values of an error's details; they can hold what a client wrote.
    pub fn redact_members(&self, members: &mut Map<String, Value>) {
        if !self.is_idle() {
            members.values_mut().for_each(|value| self.redact_value(value));
        }
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.redact(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(members) => self.redact_members(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether there is anything to look for.
    pub fn is_idle(&self) -> bool {
        self.secrets.is_empty()
    }
}
