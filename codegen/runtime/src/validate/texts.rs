//! Strings: length in Unicode scalar values, and pattern.

use serde_json::Value;

use super::check::{At, Checker};
use super::issue::issues_to_value;
use crate::schema::{Pattern, Schema, Shape, StringRule};

impl Checker {
    pub(super) fn string(&mut self, schema: &Schema, rule: &StringRule, text: &str, at: At<'_>) {
        if rule.min.is_some() || rule.max.is_some() {
            let length = if text.is_ascii() { text.len() } else { text.chars().count() };
            self.size(schema, "string", "characters", (rule.min, rule.max), length, at);
        }
        if let Some(pattern) = rule.pattern.filter(|pattern| !matches(pattern, text)) {
            self.report(Some(schema), at, "invalid_format", || {
                let printed = format!("/{}/", pattern.source);
                let message = format!("Invalid string: must match pattern {printed}");
                let members: Vec<(&'static str, Value)> = vec![
                    ("origin", "string".into()),
                    ("format", "regex".into()),
                    ("pattern", printed.into()),
                ];
                (message, members)
            });
        }
    }

    /// Checks a map's key; its problems are listed inside one `invalid_key` issue.
    pub(super) fn record_key(&mut self, schema: &Schema, rule: &StringRule, key: &str, at: At<'_>) {
        let of_key = Schema { shape: Shape::String(*rule), nullable: false, message: None };
        let mut inner = if self.collects() { Self::collecting() } else { Self::deciding() };
        inner.string(&of_key, rule, key, None);
        if inner.failed() {
            self.report(Some(schema), at, "invalid_key", || {
                let issues = issues_to_value(&inner.into_issues());
                ("Invalid key in record".to_owned(), vec![("origin", "record".into()), ("issues", issues)])
            });
        }
    }
}

/// A pattern that did not compile matches nothing: what cannot be checked is not let through.
fn matches(pattern: &Pattern, text: &str) -> bool {
    pattern.regex().is_some_and(|regex| regex.find(text).is_some())
}
