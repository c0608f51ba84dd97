//! Reads members of an object from raw JSON. Borrows from it and parses nothing else.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of `params` that the protocol reads, found in one pass; arguments can be large.
#[derive(Debug, Clone, Copy, Default)]
pub struct Params<'a> {
    /// `_meta`.
    pub meta: Option<&'a RawValue>,
    /// `tools/call`: the tool's name.
    pub name: Option<&'a RawValue>,
    /// `tools/call`: its arguments.
    pub arguments: Option<&'a RawValue>,
    /// `tools/list`: where to continue.
    pub cursor: Option<&'a RawValue>,
    /// `initialize`: the revision asked for.
    pub protocol_version: Option<&'a RawValue>,
    /// `initialize`: who the client is.
    pub client_info: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// Reads the members. All are `None` when `params` is absent or not an object.
    pub fn read(params: Option<&'a RawValue>) -> Self {
        const KEYS: [&str; 6] = ["_meta", "name", "arguments", "cursor", "protocolVersion", "clientInfo"];
        let found = params.and_then(|params| members(params, KEYS)).unwrap_or_default();
        let [meta, name, arguments, cursor, protocol_version, client_info] = found;
        Self { meta, name, arguments, cursor, protocol_version, client_info }
    }
}

/// Returns what is hashed of `params` that have no one canonical form: a line that says so, and their bytes.
pub fn raw_form(params: &str) -> String {
    format!("colibri-raw-v1\n{params}")
}

/// Returns the text of a JSON string, borrowed when it holds no escape; `None` for other types.
pub fn text_of(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(raw).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// Returns one member of an object; the last, if the key is repeated. `None` if `raw` is not an object.
pub fn member<'a>(raw: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    let [value] = members(raw, [key])?;
    value
}

/// Returns several members of an object at once. `None` if `raw` is not an object.
pub fn members<'a, const N: usize>(raw: &'a RawValue, keys: [&str; N]) -> Option<[Option<&'a RawValue>; N]> {
    if !raw.get().starts_with('{') {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    deserializer.deserialize_map(Pick { keys }).ok()
}

/// Picks members by key.
struct Pick<'k, const N: usize> {
    keys: [&'k str; N],
}

impl<'de, const N: usize> Visitor<'de> for Pick<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; N];
        while let Some(Key(key)) = map.next_key()? {
            match self.keys.iter().position(|wanted| *wanted == key) {
                Some(index) => values[index] = Some(map.next_value()?),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(values)
    }
}

/// An object's key, borrowed when it holds no escape.
pub(super) struct Key<'de>(pub(super) Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// An object's key as bytes: half a surrogate pair is not Unicode. Control characters pass.
pub struct ByteKey<'de>(pub Cow<'de, [u8]>);

impl<'de> Deserialize<'de> for ByteKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = ByteKey<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_bytes<E>(self, key: &'de [u8]) -> Result<Self::Value, E> {
                Ok(ByteKey(Cow::Borrowed(key)))
            }
            fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
                Ok(ByteKey(Cow::Owned(key.to_vec())))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}
