//! Bytes of consensus messages (consensus#messages): the project's canonical JSON, in which every byte string is lowercase hex.
//! What can be decoded has exactly one form. Pure.

use colibri_canonical::hex;
use colibri_canonical::{NumberRule, canonical_json};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Length of SHA-256 outputs, Merkle roots and rule hashes.
pub(crate) const HASH_LEN: usize = 32;
/// Length of the salt of a commitment.
pub const SALT_LEN: usize = 32;
/// Length of an Ed25519 signature (RFC 8032).
pub(crate) const SIG_LEN: usize = 64;
/// Length of an Ed25519 public key.
pub(crate) const PK_LEN: usize = 32;
/// Length of an Ed25519 seed, which RFC 8032 calls the private key.
pub const SEED_LEN: usize = 32;
/// The largest integer of a message: all of them fit SQLite's.
pub const MAX_INTEGER: u64 = i64::MAX as u64;

/// A SHA-256, a Merkle root or a rule hash.
pub type Hash = [u8; HASH_LEN];

/// Why something is not a valid message. Names the field, but never repeats the value, which may be hostile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConsensusSerializationError {
    /// A byte field of the wrong length, or one that is not lowercase hex.
    #[error("{field}: expected {expected} bytes as lowercase hex")]
    BadLength {
        /// The key.
        field: String,
        /// How many bytes it has.
        expected: usize,
    },
    /// An integer beyond 0…2^63−1, or not a valid number.
    #[error("{field}: not an integer between 0 and 9223372036854775807")]
    IntegerRange {
        /// The key.
        field: String,
    },
    /// Anything else that the message's form does not allow.
    #[error("{0}")]
    Malformed(String),
}

impl ConsensusSerializationError {
    pub(super) fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed(what.into())
    }
}

/// Returns canonical JSON of a value whose byte strings are hex already.
///
/// # Errors
/// [`ConsensusSerializationError::IntegerRange`] for a number that no message may hold.
pub fn encode(value: &Value) -> Result<Vec<u8>, ConsensusSerializationError> {
    check_numbers(value, "message")?;
    let text = canonical_json(value, NumberRule::Exact)
        .map_err(|error| ConsensusSerializationError::malformed(error.to_string()))?;
    Ok(text.into_bytes())
}

fn check_numbers(value: &Value, field: &str) -> Result<(), ConsensusSerializationError> {
    match value {
        Value::Number(number) if number.as_u64().is_none_or(|integer| integer > MAX_INTEGER) => {
            Err(ConsensusSerializationError::IntegerRange { field: field.to_owned() })
        }
        Value::Array(items) => items.iter().try_for_each(|item| check_numbers(item, field)),
        Value::Object(members) => members.iter().try_for_each(|(key, value)| check_numbers(value, key)),
        _ => Ok(()),
    }
}

/// Returns SHA-256 over several pieces, one after the other.
pub fn sha256(pieces: &[&[u8]]) -> Hash {
    let mut digest = Sha256::new();
    for piece in pieces {
        digest.update(piece);
    }
    digest.finalize().into()
}

/// An object of a message being written.
#[derive(Debug, Default)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// Adds an integer; [`encode`] refuses it beyond [`MAX_INTEGER`].
    #[must_use]
    pub fn integer(self, key: &str, value: u64) -> Self {
        self.value(key, Value::from(value))
    }

    /// Adds bytes as lowercase hex.
    #[must_use]
    pub fn bytes(self, key: &str, value: &[u8]) -> Self {
        self.value(key, Value::from(hex::encode(value)))
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, key: &str, value: &str) -> Self {
        self.value(key, Value::from(value))
    }

    /// Adds any value.
    #[must_use]
    pub fn value(mut self, key: &str, value: Value) -> Self {
        self.0.insert(key.to_owned(), value);
        self
    }

    /// Returns the object.
    pub fn finish(self) -> Value {
        Value::Object(self.0)
    }
}

/// An object of a message being read. The caller reads every key once; [`Reader::finish`] refuses the rest.
#[derive(Debug)]
pub struct Reader<'a> {
    members: &'a Map<String, Value>,
    read: usize,
}

impl<'a> Reader<'a> {
    /// Reads `value`, which must be an object.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::Malformed`].
    pub fn of(value: &'a Value) -> Result<Self, ConsensusSerializationError> {
        let members =
            value.as_object().ok_or_else(|| ConsensusSerializationError::malformed("not an object"))?;
        Ok(Self { members, read: 0 })
    }

    /// Returns the value under `key`.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::Malformed`] if the key is missing.
    pub fn value(&mut self, key: &str) -> Result<&'a Value, ConsensusSerializationError> {
        self.read += 1;
        self.members
            .get(key)
            .ok_or_else(|| ConsensusSerializationError::malformed(format!("{key} is missing")))
    }

    /// Returns the integer under `key`.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::IntegerRange`].
    pub fn integer(&mut self, key: &str) -> Result<u64, ConsensusSerializationError> {
        let integer = self.value(key)?.as_u64().filter(|&integer| integer <= MAX_INTEGER);
        integer.ok_or_else(|| ConsensusSerializationError::IntegerRange { field: key.to_owned() })
    }

    /// Returns the text under `key`.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::Malformed`].
    pub fn text(&mut self, key: &str) -> Result<&'a str, ConsensusSerializationError> {
        let text = self.value(key)?.as_str();
        text.ok_or_else(|| ConsensusSerializationError::malformed(format!("{key} is not a string")))
    }

    /// Returns the `N` bytes under `key`.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::BadLength`].
    pub fn bytes<const N: usize>(&mut self, key: &str) -> Result<[u8; N], ConsensusSerializationError> {
        let bytes = self.value(key)?.as_str().and_then(hex::decode_array);
        bytes.ok_or_else(|| ConsensusSerializationError::BadLength { field: key.to_owned(), expected: N })
    }

    /// Returns the items of the array under `key`.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::Malformed`].
    pub fn items(&mut self, key: &str) -> Result<&'a [Value], ConsensusSerializationError> {
        let items = self.value(key)?.as_array();
        let items =
            items.ok_or_else(|| ConsensusSerializationError::malformed(format!("{key} is not an array")))?;
        Ok(items.as_slice())
    }

    /// Returns the result of `parse` for the text under `key`.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::Malformed`] if `parse` returns `None`.
    pub fn parsed<T>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ConsensusSerializationError> {
        let text = self.text(key)?;
        parse(text).ok_or_else(|| {
            ConsensusSerializationError::malformed(format!("{key} has no value that it may have"))
        })
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::Malformed`] if keys are left that the caller has not read.
    pub fn finish(self) -> Result<(), ConsensusSerializationError> {
        if self.members.len() == self.read {
            Ok(())
        } else {
            Err(ConsensusSerializationError::malformed("keys that the message does not have"))
        }
    }
}
