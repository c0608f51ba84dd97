//! One text for each value (rules#canonical-text): the project's encoder under the rule that writes integers exactly
//! and refuses fractions. Pure.

use colibri_canonical::{CanonicalError, NumberRule, canonical_json};
use serde_json::Value;

/// A value without a canonical text. The message names the fault and its path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("CanonicalSerializationError: {0}")]
pub struct CanonicalSerializationError(#[from] pub CanonicalError);

/// Returns the canonical text of `value`: no white space, keys in UTF-16 order, integers as bare digits.
///
/// # Errors
/// A fraction, an integer that is not exact, or nesting deeper than 128.
pub fn canonicalize(value: &Value) -> Result<String, CanonicalSerializationError> {
    Ok(canonical_json(value, NumberRule::Exact)?)
}
