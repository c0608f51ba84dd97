//! One text for one value (rules#canonical-text): the project's encoder under the rule that writes integers exactly and
//! refuses fractions. Pure.

use colibri_canonical::{CanonicalError, NumberRule, canonical_json};
use serde_json::Value;

/// A value without a canonical text. The message says what and at which path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("CanonicalSerializationError: {0}")]
pub struct CanonicalSerializationError(#[from] pub CanonicalError);

/// The canonical text of `value`: no white space, keys in UTF-16 order, integers as bare digits.
///
/// # Errors
/// A fraction, an integer whose digits are lost, or nesting deeper than 128.
pub fn canonicalize(value: &Value) -> Result<String, CanonicalSerializationError> {
    Ok(canonical_json(value, NumberRule::Exact)?)
}

/// The length of [`canonicalize`]'s text in bytes of UTF-8.
///
/// # Errors
/// As [`canonicalize`].
pub fn byte_length(value: &Value) -> Result<usize, CanonicalSerializationError> {
    Ok(canonicalize(value)?.len())
}
