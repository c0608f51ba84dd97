//! Rules across fields that JSON Schema's portable subset cannot say (catalogue#cross-rules).

use serde_json::Value;

use super::check::{At, Checker};
use super::equality::equal;
use super::path::Place;
use crate::schema::CrossRule;

/// Checks every rule on arguments whose structure is sound.
pub(super) fn check(rules: &[CrossRule], value: &Value, checker: &mut Checker<'_>) {
    for rule in rules {
        match rule {
            CrossRule::AliasEqual { field, alias, message } => {
                if let (Some(left), Some(right)) = (value.get(field), value.get(alias))
                    && !equal(left, right)
                {
                    refuse(checker, Some(&Place::key(None, alias)), message);
                }
            }
            CrossRule::Either { field, others, message } => {
                if value.get(field).is_some() {
                    for other in others.iter().filter(|other| value.get(other).is_some()) {
                        refuse(checker, Some(&Place::key(None, other)), message);
                    }
                }
            }
            CrossRule::Needs { field, other, message } => {
                if value.get(field).is_some() && value.get(other).is_none() {
                    refuse(checker, Some(&Place::key(None, field)), message);
                }
            }
            CrossRule::MaxBytes { field, limit, message } => {
                if value.get(field).and_then(Value::as_str).is_some_and(|text| text.len() > *limit as usize) {
                    refuse(checker, Some(&Place::key(None, field)), message);
                }
            }
            CrossRule::NoNul { message } => no_nul(value, None, message, checker),
        }
    }
}

fn refuse(checker: &mut Checker<'_>, at: At<'_>, message: &str) {
    checker.report(None, at, "custom", || (message.to_owned(), Vec::new()));
}

/// Looks for U+0000 in every string, keys of maps included.
fn no_nul(value: &Value, at: At<'_>, message: &str, checker: &mut Checker<'_>) {
    match value {
        Value::String(text) if holds_nul(text) => refuse(checker, at, message),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                no_nul(item, Some(&Place::index(at, index)), message, checker);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let place = Place::key(at, key);
                if holds_nul(key) {
                    refuse(checker, Some(&place), message);
                }
                no_nul(value, Some(&place), message, checker);
            }
        }
        _ => {}
    }
}

fn holds_nul(text: &str) -> bool {
    text.as_bytes().contains(&0)
}
