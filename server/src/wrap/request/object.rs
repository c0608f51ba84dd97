//! Members of an object, found by their names in one pass.

use std::fmt;

use colibri_runtime::wire::params::ByteKey;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::wrap::limits::IN_FLIGHT;
use crate::wrap::text::is_like;

/// The members with these names.
#[derive(Debug)]
pub(super) struct Object<'a, const N: usize> {
    /// The last value of each.
    pub(super) values: [Option<&'a RawValue>; N],
    /// The first value of each.
    pub(super) firsts: [Option<&'a RawValue>; N],
    /// It is named twice, or in another case, which some readers take for the same.
    pub(super) twice: [bool; N],
    /// There are members with other names.
    pub(super) others: bool,
}

impl<const N: usize> Default for Object<'_, N> {
    fn default() -> Self {
        Self { values: [None; N], firsts: [None; N], twice: [false; N], others: false }
    }
}

impl<'a, const N: usize> Object<'a, N> {
    /// Reads an object. `None` if `text` is not one.
    pub(super) fn read(text: &'a str, names: [&str; N]) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let object = reader.deserialize_map(Names(names)).ok()?;
        reader.end().ok()?;
        Some(object)
    }
}

struct Names<'n, const N: usize>([&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Names<'_, N> {
    type Value = Object<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = Object::default();
        while let Some(ByteKey(key)) = map.next_key()? {
            let Some(at) = self.0.iter().position(|name| is_like(&key, name.as_bytes())) else {
                object.others = true;
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = Some(map.next_value()?);
            object.twice[at] |= object.values[at].is_some() || *key != *self.0[at].as_bytes();
            object.firsts[at] = object.firsts[at].or(value);
            object.values[at] = value;
        }
        Ok(object)
    }
}

/// The elements of an array, at most one more of them than requests may be in flight.
#[derive(Debug)]
pub(super) struct Elements<'a>(pub(super) Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Array;
        impl<'de> Visitor<'de> for Array {
            type Value = Elements<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while elements.len() <= IN_FLIGHT {
                    let Some(element) = array.next_element()? else { return Ok(Elements(elements)) };
                    elements.push(element);
                }
                while array.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(Array)
    }
}
