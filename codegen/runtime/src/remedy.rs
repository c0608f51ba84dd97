//! What a caller can do after a declared error: the calls that the catalogue suggests, filled in from the error's fields and
//! the call's own arguments. Nothing here runs on the way to a success.

use serde_json::{Map, Value};

/// A call that helps after an error, as the catalogue states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextCall {
    /// The tool.
    pub tool: &'static str,
    /// The field of the error without whose value the call could not succeed.
    pub only_if: Option<&'static str>,
    /// Its arguments.
    pub arguments: &'static [NextArgument],
    /// The arguments that only the caller can fill in, each with a hint.
    pub ask: &'static [(&'static str, &'static str)],
}

/// An argument of a suggested call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextArgument {
    /// Its name.
    pub name: &'static str,
    /// Where its value comes from.
    pub value: Source,
    /// Whether there is no call without it.
    pub needed: bool,
}

/// Where the value of an argument comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// JSON text.
    Literal(&'static str),
    /// A field of the error.
    Field(&'static str),
    /// An argument of the call that failed.
    Argument(&'static str),
}

/// A suggested call with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// The arguments that are still missing, each with a hint.
    pub ask: Map<String, Value>,
}

impl NextCall {
    /// Fills in the call. A value that is null or absent leaves its argument out; `None` if the call needs that one, or the field
    /// that it depends on has no value.
    pub(crate) fn suggestion(&self, fields: &Map<String, Value>, given: &Value) -> Option<Suggestion> {
        if self.only_if.is_some_and(|field| !fields.get(field).is_some_and(has_value)) {
            return None;
        }
        let mut arguments = Map::new();
        for argument in self.arguments {
            let value = match argument.value {
                Source::Literal(text) => serde_json::from_str(text).ok(),
                Source::Field(name) => fields.get(name).cloned(),
                Source::Argument(name) => given.get(name).cloned(),
            };
            match value.filter(|value| !value.is_null()) {
                Some(value) => {
                    arguments.insert(argument.name.to_owned(), value);
                }
                None if argument.needed => return None,
                None => {}
            }
        }
        let missing = self.ask.iter().filter(|(name, _)| !arguments.contains_key(*name));
        let ask = missing.map(|(name, hint)| ((*name).to_owned(), Value::from(*hint))).collect();
        Some(Suggestion { tool: self.tool, arguments, ask })
    }
}

/// Returns whether a field of an error says that there is something.
fn has_value(field: &Value) -> bool {
    match field {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

impl Suggestion {
    /// Returns the call as an error shows it.
    #[must_use]
    pub fn into_value(self) -> Value {
        let mut members = Map::with_capacity(3);
        members.insert("tool".to_owned(), Value::from(self.tool));
        members.insert("arguments".to_owned(), Value::Object(self.arguments));
        if !self.ask.is_empty() {
            members.insert("ask".to_owned(), Value::Object(self.ask));
        }
        Value::Object(members)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::{NextArgument, NextCall, Source};

    const fn argument(name: &'static str, value: Source, needed: bool) -> NextArgument {
        NextArgument { name, value, needed }
    }

    const CALL: NextCall = NextCall {
        tool: "note_find",
        only_if: None,
        arguments: &[
            argument("id", Source::Field("note"), true),
            argument("tag", Source::Argument("tag"), false),
            argument("deep", Source::Literal("true"), false),
        ],
        ask: &[("tag", "a word"), ("why", "your reason")],
    };

    fn shown(fields: &Value, given: &Value) -> Option<Value> {
        Some(CALL.suggestion(fields.as_object()?, given)?.into_value())
    }

    #[test]
    fn values_come_from_fields_arguments_and_the_catalogue() {
        assert_eq!(
            shown(&json!({ "note": 7 }), &json!({ "tag": "a" })),
            Some(json!({
                "tool": "note_find",
                "arguments": { "id": 7, "tag": "a", "deep": true },
                "ask": { "why": "your reason" }
            }))
        );
    }

    #[test]
    fn null_leaves_the_argument_out_and_a_needed_one_the_call() {
        let asked = shown(&json!({ "note": "n" }), &json!({ "tag": null }));
        assert_eq!(asked.map(|call| call["ask"]["tag"].clone()), Some(json!("a word")));
        assert_eq!(shown(&json!({ "note": null }), &json!({})), None);
        assert_eq!(shown(&json!({}), &json!({ "tag": "a" })), None);
    }

    #[test]
    fn a_call_that_depends_on_a_field_needs_a_value_there() {
        let call = NextCall { only_if: Some("left"), ..CALL };
        let suggested = |left: Value| {
            let fields = json!({ "note": 7, "left": left });
            call.suggestion(fields.as_object().unwrap(), &json!({})).is_some()
        };
        for left in [json!(null), json!(false), json!(0), json!(""), json!([]), json!({})] {
            assert!(!suggested(left.clone()), "{left}");
        }
        for left in [json!(true), json!(1), json!("a"), json!([null]), json!({ "a": 1 })] {
            assert!(suggested(left.clone()), "{left}");
        }
    }
}
