//! Strings: length in Unicode scalar values, and pattern.

use colibri_pattern::Exhausted;
use serde_json::Value;

use super::check::{At, Checker};
use super::issue::issues_to_value;
use crate::schema::{Schema, Shape, StringRule};

impl Checker<'_> {
    pub(super) fn string(&mut self, schema: &Schema, rule: &StringRule, text: &str, at: At<'_>) {
        if rule.min.is_some() || rule.max.is_some() {
            let length = if text.is_ascii() { text.len() } else { text.chars().count() };
            self.size(schema, "string", "characters", (rule.min, rule.max), length, at);
        }
        let Some(pattern) = rule.pattern else { return };
        match pattern.matches_within(text, self.steps()) {
            Ok(true) => {}
            Ok(false) => self.report(Some(schema), at, "invalid_format", || {
                let printed = format!("/{}/", pattern.source);
                let message = format!("Invalid string: must match pattern {printed}");
                let members: Vec<(&'static str, Value)> = vec![
                    ("origin", "string".into()),
                    ("format", "regex".into()),
                    ("pattern", printed.into()),
                ];
                (message, members)
            }),
            Err(Exhausted) => self.report(Some(schema), at, "custom", || {
                (format!("The text takes too long to match with /{}/", pattern.source), Vec::new())
            }),
        }
    }

    /// Checks a map's key; its problems are listed inside one `invalid_key` issue.
    pub(super) fn record_key(&mut self, schema: &Schema, rule: &StringRule, key: &str, at: At<'_>) {
        let of_key = Schema { shape: Shape::String(*rule), nullable: false, message: None };
        let mut inner =
            if self.collects() { Checker::collecting(self.steps()) } else { Checker::deciding(self.steps()) };
        inner.string(&of_key, rule, key, None);
        if inner.failed() {
            self.report(Some(schema), at, "invalid_key", || {
                let issues = issues_to_value(&inner.into_issues());
                ("Invalid key in record".to_owned(), vec![("origin", "record".into()), ("issues", issues)])
            });
        }
    }
}
