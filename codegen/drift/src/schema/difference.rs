//! A difference between two schemas, as a rule receives it.

use serde_json::Value;

use super::SchemaChange;
use super::contain::Verdict;
use crate::{Nature, Rule, Severity};

/// What differs, where, and whether the new schema loses values.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    pub pointer: String,
    /// The place in words, for sentences: `title`, `tags[]`, `the input`.
    pub place: String,
    pub old: Value,
    pub new: Value,
    /// Whether every value that was valid still is; a refutation is a whole value.
    pub verdict: Verdict,
}

impl Difference {
    /// Takes the severity from the verdict: `worst` if a value shows the loss, `Ack` if it is undecided, `Info` if
    /// nothing is lost.
    pub(crate) fn graded(self, rule: &'static Rule, worst: Severity, message: String) -> SchemaChange {
        let severity = match &self.verdict {
            Verdict::Refuted(_) => worst,
            Verdict::Unknown(_) => Severity::Ack,
            Verdict::Inside => Severity::Info,
        };
        self.judged(rule, severity, message)
    }

    /// Sets a severity that does not depend on values alone.
    pub(crate) fn judged(self, rule: &'static Rule, severity: Severity, mut message: String) -> SchemaChange {
        let witness = match self.verdict {
            Verdict::Refuted(value) => Some(value),
            Verdict::Unknown(reason) if severity == Severity::Ack => {
                message = format!("{message} (not decided: {reason})");
                None
            }
            _ => None,
        };
        SchemaChange {
            rule: rule.id,
            severity,
            security: false,
            nature: Nature::Plain,
            pointer: self.pointer,
            places: Vec::new(),
            old: self.old,
            new: self.new,
            message,
            witness,
        }
    }

    /// Returns whether a value was lost, or may have been.
    pub(crate) fn loses(&self) -> bool {
        self.verdict != Verdict::Inside
    }

    /// Describes old and new in a sentence: `a` became `b`, `a` is gone, `b` is new.
    pub(crate) fn shift(&self) -> String {
        match (&self.old, &self.new) {
            (Value::Null, new) => format!("{} is new", brief(new)),
            (old, Value::Null) => format!("{} is gone", brief(old)),
            (old, new) => format!("{} became {}", brief(old), brief(new)),
        }
    }
}

/// The forms of a union, all of one type, that are gone and that came, in words.
#[derive(Debug, Clone)]
pub(crate) struct Branches {
    pub gone: Vec<String>,
    pub come: Vec<String>,
}

impl Branches {
    /// Tells in a sentence what values `place` had and has; the verbs are those of inputs or of outputs.
    pub(crate) fn shift(&self, place: &str, [now, no_longer]: [&str; 2]) -> String {
        let listed = |forms: &[String]| forms.join(", or ");
        match (self.gone.is_empty(), self.come.is_empty()) {
            (true, _) => format!("`{place}` {now} {} now, too", listed(&self.come)),
            (false, true) => format!("`{place}` {no_longer} {}", listed(&self.gone)),
            (false, false) => {
                format!("`{place}` {no_longer} {}; it {now} {} now", listed(&self.gone), listed(&self.come))
            }
        }
    }
}

/// Shows a value in code marks and cuts it when it is long; shows an object with one member as `name value`.
pub(crate) fn brief(value: &Value) -> String {
    const MOST: usize = 80;
    let text = match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
