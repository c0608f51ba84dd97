//! I15: property added that looks like a secret, a path, an address or a command.

use crate::schema::{Difference, SchemaChange};
use crate::{Direction, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "I15",
    direction: Direction::Input,
    title: "property added that looks like a secret, a path, an address or a command",
    why: "secrets belong in the environment; paths, addresses and commands widen what a call can reach",
};

/// What a new argument looks like: `a secret`, `a path`, `an address`, `a command`.
pub(crate) fn kind(name: &str, format: Option<&str>) -> Option<&'static str> {
    if format
        .is_some_and(|format| format.starts_with("uri") || format.starts_with("iri") || format == "hostname")
    {
        return Some("an address");
    }
    let words = words(name);
    let joined = words.join("_");
    KINDS
        .iter()
        .find(|(_, marks)| {
            marks.iter().any(|mark| {
                words.iter().any(|word| word == mark) || mark.contains('_') && joined.contains(mark)
            })
        })
        .map(|(kind, _)| *kind)
}

const KINDS: [(&str, &[&str]); 4] = [
    (
        "a secret",
        &[
            "password",
            "passwd",
            "passphrase",
            "secret",
            "secrets",
            "token",
            "apikey",
            "api_key",
            "credential",
            "credentials",
            "private_key",
            "access_key",
            "auth",
            "authorization",
            "bearer",
            "cookie",
        ],
    ),
    (
        "a path",
        &["path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "cwd"],
    ),
    ("an address", &["url", "urls", "uri", "uris", "endpoint", "host", "hostname", "webhook", "callback"]),
    ("a command", &["command", "commands", "cmd", "shell", "exec", "script", "sql", "code", "argv"]),
];

/// The words of a name in snake, kebab or camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && before_is_lower {
            words.push(String::new());
        }
        before_is_lower = letter.is_lowercase() || letter.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

pub(crate) fn judge(difference: Difference, kind: &str) -> SchemaChange {
    let message = format!("the new property `{}` looks like {kind}", difference.place);
    SchemaChange { security: true, ..difference.judged(&RULE, Severity::Ack, message) }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn names_are_read_by_word() {
        assert_eq!(kind("accessToken", None), Some("a secret"));
        assert_eq!(kind("api-key", None), Some("a secret"));
        assert_eq!(kind("output_path", None), Some("a path"));
        assert_eq!(kind("target", Some("uri")), Some("an address"));
        assert_eq!(kind("cmd", None), Some("a command"));
        for plain in ["pathology", "title", "profile", "author", "tokenise"] {
            assert_eq!(kind(plain, None), None, "{plain}");
        }
    }
}
