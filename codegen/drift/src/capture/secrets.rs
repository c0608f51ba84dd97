//! What must not be in a snapshot: the secrets that the caller gave to the server.

use std::env;

use serde_json::Value;

/// Shorter values of variables may be ordinary words.
const VARIABLE_CHARACTERS: usize = 12;
const HEADER_CHARACTERS: usize = 6;
/// Parts of the names of variables that hold secrets.
const SIGNS: [&str; 7] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "_KEY", "APIKEY"];

/// Values that are looked for, each with what it is.
pub struct Secrets(Vec<(String, String)>);

impl Secrets {
    /// Takes the given headers, and the variables of this process whose names say that they hold secrets.
    #[must_use]
    pub fn of(headers: &[(String, String)]) -> Self {
        let long = |value: &str, least: usize| value.chars().count() >= least;
        let mut found = Vec::new();
        for (name, value) in headers {
            // `Bearer …`: the word before the secret is public.
            let value = value.rsplit(' ').next().unwrap_or_default();
            if long(value, HEADER_CHARACTERS) {
                found.push((format!("the value of the header {name}"), value.to_owned()));
            }
        }
        for (name, value) in env::vars() {
            let upper = name.to_ascii_uppercase();
            if SIGNS.iter().any(|sign| upper.contains(sign)) && long(&value, VARIABLE_CHARACTERS) {
                found.push((format!("the value of the variable {name}"), value));
            }
        }
        Self(found)
    }

    /// Returns what is in a value and where, without the secret itself.
    #[must_use]
    pub fn found_in(&self, value: &Value) -> Option<String> {
        self.look(value, "")
    }

    fn look(&self, value: &Value, at: &str) -> Option<String> {
        let told = |text: &str, at: &str| {
            let (what, _) = self.0.iter().find(|(_, secret)| text.contains(secret.as_str()))?;
            Some(format!("{what} at {}", if at.is_empty() { "/" } else { at }))
        };
        match value {
            Value::String(text) => told(text, at),
            Value::Array(items) => {
                items.iter().enumerate().find_map(|(index, item)| self.look(item, &format!("{at}/{index}")))
            }
            Value::Object(members) => members.iter().find_map(|(name, inner)| {
                told(name, at).or_else(|| self.look(inner, &format!("{at}/{name}")))
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_header_is_found_wherever_it_is_without_its_scheme() {
        let headers = [("Authorization".to_owned(), "Bearer abcdef123".to_owned())];
        let secrets = Secrets::of(&headers);
        for (value, at) in [
            (json!({"a": ["x", "key abcdef123."]}), Some("/a/1")),
            (json!({"tools": {"xabcdef123": 1}}), Some("/tools")),
            (json!({"a": "Bearer"}), None),
        ] {
            let found = secrets.found_in(&value);
            assert_eq!(found, at.map(|at| format!("the value of the header Authorization at {at}")));
        }
    }
}
