//! A change in a few words: `maxLength: 200 → 100`.

use serde_json::Value;

use crate::finding::Finding;
use crate::rules::H1;

/// The most characters of one side.
const MAX_SIDE: usize = 160;

/// Characters around the part of a text that differs.
const AROUND: usize = 24;

/// Returns old and new in a few words. `None` if they are too long for that; then the message of the finding says what changed.
pub(super) fn change(finding: &Finding) -> Option<String> {
    let (old, new) = (&finding.old, &finding.new);
    // What a host refuses has a name in the new state, and nothing that it took the place of.
    if old == new || finding.rule == H1.id {
        return None;
    }
    let told = match (old, new) {
        (Value::String(old), Value::String(new)) => return Some(texts(old, new)),
        (Value::Object(one), Value::Object(other)) => match (sole(one), sole(other)) {
            (Some((name, old)), Some((other, new))) if name == other => match (old, new) {
                (Value::Array(old), Value::Array(new)) => format!("{name}: {}", lists(old, new)?),
                (old, new) => format!("{name}: {}", pair(old, new)?),
            },
            _ => pair(old, new)?,
        },
        _ => pair(old, new)?,
    };
    Some(told)
}

fn sole(members: &serde_json::Map<String, Value>) -> Option<(&String, &Value)> {
    members.iter().next().filter(|_| members.len() == 1)
}

fn pair(old: &Value, new: &Value) -> Option<String> {
    Some(format!("{} → {}", side(old)?, side(new)?))
}

/// One side; an object with one member as `name: value`.
fn side(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => "(absent)".to_owned(),
        Value::Object(members) => match sole(members) {
            Some((name, value)) => format!("{name}: {value}"),
            None => value.to_string(),
        },
        other => other.to_string(),
    };
    (text.chars().count() <= MAX_SIDE).then_some(text)
}

/// Values that are gone, and values that are new.
fn lists(old: &[Value], new: &[Value]) -> Option<String> {
    let only = |one: &[Value], other: &[Value], verb: &str| {
        let values: Vec<String> =
            one.iter().filter(|value| !other.contains(value)).map(Value::to_string).collect();
        (!values.is_empty()).then(|| format!("{verb} {}", values.join(", ")))
    };
    const MANY: usize = 500;
    if old.len().max(new.len()) > MANY {
        return None;
    }
    let parts: Vec<String> = only(old, new, "without").into_iter().chain(only(new, old, "with")).collect();
    let told = parts.join("; ");
    (!told.is_empty() && told.chars().count() <= 2 * MAX_SIDE).then_some(told)
}

/// The part of two texts that differs, with a little of what stands around it.
fn texts(old: &str, new: &str) -> String {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let before = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - before;
    let after =
        old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count().min(most);
    let shown = |text: &[char]| {
        let (from, to) = (before.saturating_sub(AROUND), (text.len() - after + AROUND).min(text.len()));
        let part = &text[from..to];
        let cut = part.len() > MAX_SIDE;
        let part: String = part.iter().take(MAX_SIDE).collect();
        let (left, right) = (if from > 0 { "…" } else { "" }, if cut || to < text.len() { "…" } else { "" });
        Value::from(format!("{left}{part}{right}")).to_string()
    };
    format!("{} → {}", shown(&old), shown(&new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;
    use crate::rules::I7;
    use serde_json::json;

    #[test]
    fn changes_are_told_in_a_few_words() {
        let long = "a".repeat(200);
        for (old, new, told) in [
            (json!({"maxLength": 200}), json!({"maxLength": 100}), Some("maxLength: 200 → 100")),
            (json!(null), json!({"maxLength": 100}), Some("(absent) → maxLength: 100")),
            (
                json!({"enum": ["a", "b"]}),
                json!({"enum": ["b", "c"]}),
                Some("enum: without \"a\"; with \"c\""),
            ),
            (json!({"minimum": 1}), json!({"exclusiveMinimum": 1}), Some("minimum: 1 → exclusiveMinimum: 1")),
            (json!(true), json!(false), Some("true → false")),
            (json!("Adds a note."), json!("Adds a nöte."), Some("\"Adds a note.\" → \"Adds a nöte.\"")),
            (
                json!("x".to_owned() + &long),
                json!("y".to_owned() + &long),
                Some("\"xaaaaaaaaaaaaaaaaaaaaaaaa…\" → \"yaaaaaaaaaaaaaaaaaaaaaaaa…\""),
            ),
            (json!("aa"), json!("a"), Some("\"aa\" → \"a\"")),
            (json!({"a": long, "b": 1}), json!(null), None),
        ] {
            let finding = I7.finding(Severity::Break, "", (old, new), "");
            assert_eq!(change(&finding).as_deref(), told);
        }
    }
}
