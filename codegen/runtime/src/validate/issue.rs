//! What is wrong with an argument, in the form of Zod 4 (catalogue#validation).

use serde_json::{Map, Value};

use super::path::PathPart;

/// The most issues one call lists (catalogue#validation).
pub const MAX_ISSUES: usize = 50;

/// One broken rule. Carries what the schema wants, never what was received.
#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    /// The kind of rule: `invalid_type`, `too_small`, `custom`, …
    pub code: &'static str,
    /// Where, from the root of the arguments.
    pub path: Vec<PathPart>,
    /// One sentence for people.
    pub message: String,
    /// The code's own members, in Zod's order.
    pub extra: Vec<(&'static str, Value)>,
}

/// What is wrong with arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Issues {
    /// The issues in declared field order, at most [`MAX_ISSUES`].
    pub listed: Vec<Issue>,
    /// How many there are beyond them.
    pub more: usize,
}

impl std::ops::Deref for Issues {
    type Target = [Issue];

    fn deref(&self) -> &[Issue] {
        &self.listed
    }
}

impl Issue {
    /// The issue as JSON, its members in the order Zod writes them.
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        let (before, after): (Vec<_>, Vec<_>) =
            self.extra.iter().partition(|(name, _)| precedes_code(self.code, name));
        members.extend(before.into_iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        members.insert("code".into(), self.code.into());
        members.extend(after.into_iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        members.insert("path".into(), self.path.iter().map(PathPart::to_value).collect());
        members.insert("message".into(), Value::String(self.message.clone()));
        Value::Object(members)
    }
}

/// Which of an issue's own members Zod writes in front of `code`.
fn precedes_code(code: &str, member: &str) -> bool {
    match member {
        "expected" => true,
        "origin" => code != "invalid_key",
        "format" => code == "invalid_type",
        _ => false,
    }
}

/// All issues as one JSON array: the `issues` of an error's `details`.
pub fn issues_to_value(issues: &[Issue]) -> Value {
    issues.iter().map(Issue::to_value).collect()
}
