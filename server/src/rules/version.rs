//! The hash that names a set of rules (rules#version-hash): SHA-256 of the canonical rules, sorted by name, followed
//! by the engine's version. Anything that could change a number changes the hash. Pure.

use colibri_canonical::MAX_DEPTH;
use serde_json::{Map, Value};

use super::canonical::{CanonicalSerializationError, canonicalize};
use colibri_canonical::HexDigest;

/// The engine's version. It must change with any rule's meaning that could change a number.
pub const ENGINE_VERSION: &str = "kappa-engine/1.0.0";
/// The member that names a rule's place in its file; it is not part of the hash.
const LOCATION: &str = "location";

/// Why rules have no hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionHashError {
    /// An entry that is not an object.
    #[error("VersionHashError: rule {index} is no object")]
    NoObject {
        /// Its place, from 0.
        index: usize,
    },
    /// An object without a name.
    #[error("VersionHashError: rule {index} has no text as its name")]
    NoName {
        /// Its place, from 0.
        index: usize,
    },
    /// A repeated name.
    #[error("VersionHashError: two rules are named {name:?}")]
    SameName {
        /// The name.
        name: String,
    },
    /// Arrays and objects nested too deep.
    #[error("VersionHashError: rule {index} nests deeper than {MAX_DEPTH}")]
    TooDeep {
        /// The rule's place, from 0.
        index: usize,
    },
    /// Rules without a canonical text.
    #[error("VersionHashError: {0}")]
    Canonical(#[from] CanonicalSerializationError),
}

/// Returns the canonical text of the rules: sorted by name, without members called `location` at any depth.
///
/// # Errors
/// See [`VersionHashError`].
pub fn canonical_rules(rules: &[Value]) -> Result<String, VersionHashError> {
    let mut named = Vec::with_capacity(rules.len());
    for (index, rule) in rules.iter().enumerate() {
        let Value::Object(members) = rule else { return Err(VersionHashError::NoObject { index }) };
        let Some(Value::String(name)) = members.get("name") else {
            return Err(VersionHashError::NoName { index });
        };
        // The list and the rule itself count as two levels.
        let placeless = without_location(rule, 2).ok_or(VersionHashError::TooDeep { index })?;
        named.push((name.as_str(), placeless));
    }
    named.sort_by_key(|(name, _)| *name);
    if let Some(pair) = named.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(VersionHashError::SameName { name: pair[0].0.to_owned() });
    }
    let sorted = named.into_iter().map(|(_, rule)| rule).collect();
    Ok(canonicalize(&Value::Array(sorted))?)
}

/// Returns the hash of a set of rules in any order. `as_str` is the wire form: 64 characters.
///
/// # Errors
/// See [`VersionHashError`].
pub fn rule_version_hash(rules: &[Value]) -> Result<HexDigest, VersionHashError> {
    // The text ends in `]`, so the version needs no separator.
    let mut text = canonical_rules(rules)?;
    text.push_str(ENGINE_VERSION);
    Ok(HexDigest::of(text.as_bytes()))
}

/// Copies `value` without members called `location`; `None` if it nests too deep.
fn without_location(value: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        // A text or number at this depth does not add a level.
        return (!value.is_array() && !value.is_object()).then(|| value.clone());
    }
    Some(match value {
        Value::Array(items) => {
            let items: Option<Vec<Value>> =
                items.iter().map(|item| without_location(item, depth + 1)).collect();
            Value::Array(items?)
        }
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| *key != LOCATION);
            let kept: Option<Map<String, Value>> =
                kept.map(|(key, value)| Some((key.clone(), without_location(value, depth + 1)?))).collect();
            Value::Object(kept?)
        }
        plain => plain.clone(),
    })
}
