//! JSON objects with free names in generated types. They keep the order in which they were filled, as objects with
//! fixed names do, so that a handler decides what its reply looks like.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Names with values, in the order in which they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members<K, V>(Vec<(K, V)>);

impl<K, V> Members<K, V> {
    /// Returns an object without members.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns whether the object has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

impl<K, V> Default for Members<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// If several members share a name, the last value counts, in the place of the first.
impl<K: PartialEq, V> FromIterator<(K, V)> for Members<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut kept: Vec<(K, V)> = Vec::new();
        for (name, value) in members {
            match kept.iter_mut().find(|(other, _)| *other == name) {
                Some((_, old)) => *old = value,
                None => kept.push((name, value)),
            }
        }
        Self(kept)
    }
}

impl<K, V> IntoIterator for Members<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Serialize, V: Serialize> Serialize for Members<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Members<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object(PhantomData))
    }
}

/// Reads members as they come: the source was already an object with distinct names.
struct Object<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Object<K, V> {
    type Value = Members<K, V>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Members;

    #[test]
    fn members_keep_their_order_both_ways() {
        let text = r#"{"z":1,"a":2,"m":3}"#;
        let members: Members<String, i64> = serde_json::from_str(text).unwrap();
        assert_eq!((members.len(), members.is_empty()), (3, false));
        assert_eq!(serde_json::to_string(&members).unwrap(), text);
        let reversed: Members<String, i64> = members.into_iter().rev().collect();
        assert_eq!(serde_json::to_string(&reversed).unwrap(), r#"{"m":3,"a":2,"z":1}"#);
    }

    #[test]
    fn the_last_value_of_a_name_counts_in_the_first_one_s_place() {
        let members: Members<&str, i64> = [("b", 1), ("a", 2), ("b", 3)].into_iter().collect();
        assert_eq!(members.iter().collect::<Vec<_>>(), [(&"b", &3), (&"a", &2)]);
    }
}
