//! Writes the canonical form of a text without building a value of it. The server sends a handler's result as it was
//! written; only its hash needs the members in another order.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::NumberRule;
use crate::escape::push_string;
use crate::sent::Sent;
use crate::value::{Encoder, sort_members};

/// Writes one JSON text in the form that [`canonical_json`](crate::canonical_json) gives to its value.
///
/// Returns `None` where the two might differ or no such form exists: the text is not JSON, an object names a member
/// twice, `rule` refuses a number, or the nesting is deeper than 127 levels.
pub fn canonical_text(json: &str, rule: NumberRule) -> Option<String> {
    let mut sent = if rule == NumberRule::Sent { Sent::of(json) } else { None };
    let text = sent.as_mut().map(|sent| std::mem::take(&mut sent.text));
    let mut writer = Writer { encoder: Encoder::new(json.len(), rule), sent };
    let mut reader = serde_json::Deserializer::from_str(text.as_deref().unwrap_or(json));
    Node(&mut writer).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(writer.encoder.out)
}

/// Returns the value of a text that was written from one, however deep it is nested.
pub fn value_of(json: &str) -> Option<Value> {
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.disable_recursion_limit();
    Value::deserialize(&mut reader).ok()
}

/// The encoder, and the numbers that the reader does not keep.
struct Writer<'t> {
    encoder: Encoder,
    sent: Option<Sent<'t>>,
}

/// A value on its way from the reader to the encoder.
struct Node<'a, 't>(&'a mut Writer<'t>);

impl<'de> DeserializeSeed<'de> for Node<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.encoder.out.push_str("null");
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.encoder.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.number(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.number(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("not finite"))?;
        self.number(number)
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        push_string(&mut self.0.encoder.out, value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.encoder.out.push('[');
        let first = self.0.encoder.out.len();
        loop {
            let end = self.0.encoder.out.len();
            if end > first {
                self.0.encoder.out.push(',');
            }
            if items.next_element_seed(Node(self.0))?.is_none() {
                self.0.encoder.out.truncate(end);
                break;
            }
        }
        self.0.encoder.out.push(']');
        Ok(())
    }

    /// Writes the members as they come and orders them afterwards.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let writer = self.0;
        let start = writer.encoder.out.len();
        let mut members: Vec<(Cow<'de, str>, Range<usize>)> = Vec::with_capacity(16);
        while let Some(key) = map.next_key_seed(Key)? {
            let from = writer.encoder.out.len();
            push_string(&mut writer.encoder.out, &key);
            writer.encoder.out.push(':');
            map.next_value_seed(Node(writer))?;
            members.push((key, from - start..writer.encoder.out.len() - start));
        }
        sort_members(&mut members, |(key, _)| key);
        if members.windows(2).any(|pair| matches!(pair, [(left, _), (right, _)] if left == right)) {
            return Err(A::Error::custom("a member is named twice"));
        }
        let out = &mut writer.encoder.out;
        let written = out.split_off(start);
        out.push('{');
        for (index, (_, place)) in members.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(written.get(place).unwrap_or_default());
        }
        out.push('}');
        Ok(())
    }
}

impl Node<'_, '_> {
    fn number<E: Error>(self, number: Number) -> Result<(), E> {
        if let Some(digits) = self.0.sent.as_mut().and_then(Sent::next) {
            self.0.encoder.out.push_str(digits);
            return Ok(());
        }
        self.0.encoder.number(&number).map_err(|_| E::custom("a number that the rule refuses"))
    }
}

/// A member's name, borrowed from the text unless it holds escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;
    use crate::canonical_json;

    fn any_json() -> impl Strategy<Value = Value> {
        let name = prop_oneof![
            "[a-z_]{1,12}",
            any::<String>(),
            // Above U+FFFF the order of code units differs from that of characters.
            prop_oneof![Just("\u{e000}".to_owned()), Just("\u{10000}".to_owned()), Just("a\"\n".to_owned())],
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            prop::num::f64::NORMAL.prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner), 0..20)
                    .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_the_values_own_form(value in any_json()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap_or_default()] {
                for rule in [NumberRule::Wire, NumberRule::Sent, NumberRule::Trail, NumberRule::Exact] {
                    prop_assert_eq!(canonical_text(&text, rule), canonical_json(&value, rule).ok());
                }
            }
        }
    }

    #[test]
    fn what_has_no_one_form_is_refused() {
        let wire = |text: &str| canonical_text(text, NumberRule::Wire);
        for text in
            ["", "{", "{} {}", "[1,]", "nul", r#"{"a":1,"b":2,"a":1}"#, r#"{"a":1,"\u0061":2}"#, "1e999"]
        {
            assert_eq!(wire(text), None, "{text}");
        }
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(wire(&nested(127)), Some(nested(127)));
        assert_eq!(wire(&nested(128)), None);
        assert_eq!(wire(r#" {"b" : [ ] , "a" : { } } "#).as_deref(), Some(r#"{"a":{},"b":[]}"#));
    }
}
