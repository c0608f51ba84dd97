//! Stage 2: checks arguments against the static schema tables. One interpreter reports every problem in
//! Zod's form (catalogue#validation). If it finds none, it leaves the value ready for decoding.

mod check;
mod cross;
mod equality;
mod issue;
mod normalise;
mod numbers;
mod path;
mod texts;
mod unions;
mod words;

use colibri_pattern::Steps;
use serde_json::{Map, Value};

use crate::schema::{CrossRule, Schema};

pub use issue::{Issue, Issues, MAX_ISSUES, issues_to_value};
pub use path::PathPart;
pub(crate) use words::unreadable_params;
pub use words::{Refusal, invalid_params};

/// Checks `value` and normalises it in place: defaults are put in at their declared place and
/// numbers such as `10.0` become integers where an integer is declared.
///
/// `rules` are checked only when the structure is valid, on the value as it was received.
///
/// # Errors
/// Every issue: the first [`MAX_ISSUES`] in declared field order, and how many more. `value` is then unchanged.
pub fn validate(input: &'static Schema, rules: &[CrossRule], value: &mut Value) -> Result<(), Issues> {
    let steps = Steps::default();
    let mut checker = check::Checker::collecting(&steps);
    checker.node(input, value, None);
    if !checker.failed() && !rules.is_empty() {
        cross::check(rules, value, &mut checker);
    }
    if checker.failed() {
        return Err(checker.into_issues());
    }
    if checker.untidy() {
        normalise::normalise(input, value);
    }
    Ok(())
}

/// Returns a member by name. Among few members, comparing each is faster than hashing.
fn member<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match members.len() {
        0..=8 => members.iter().find(|(key, _)| *key == name).map(|(_, value)| value),
        _ => members.get(name),
    }
}

/// Returns whether `value` fits `schema` as it is. For checks of output in debug builds.
pub fn conforms(schema: &Schema, value: &Value) -> bool {
    conforms_within(schema, value, &Steps::default())
}

fn conforms_within(schema: &Schema, value: &Value, steps: &Steps) -> bool {
    let mut checker = check::Checker::deciding(steps);
    checker.node(schema, value, None);
    !checker.failed()
}
