//! Canonical JSON (RFC 8785), SHA-256 and hexadecimal: the one encoder that everything in Colibri hashes with. Pure.
//!
//! ```
//! use colibri_canonical::{HexDigest, NumberRule, canonical_json};
//! use serde_json::json;
//!
//! let text = canonical_json(&json!({ "b": 1, "a": [true] }), NumberRule::Wire)?;
//! assert_eq!(text, r#"{"a":[true],"b":1}"#);
//! let digest = HexDigest::of(text.as_bytes());
//! assert_eq!(&digest.as_str()[..8], "70874753");
//! # Ok::<(), colibri_canonical::CanonicalError>(())
//! ```
//!
//! [`canonical_json`] encodes a value, [`canonical_text`] a JSON text without building its value, and [`object`] writes objects
//! whose keys are known: three ways to the same bytes, and tests check that all three give them. Readers of JSON disagree on some numbers;
//! a [`NumberRule`] says what the encoder does with those.

mod digest;
mod error;
pub mod escape;
pub mod hex;
pub mod object;
mod sent;
#[cfg(test)]
mod tests;
mod text;
mod value;

pub use digest::{HexDigest, sha256_hex};
pub use error::CanonicalError;
pub use sent::keeps_numbers;
pub use text::{canonical_text, value_of};
pub use value::{MAX_DEPTH, NumberRule, canonical_json, cmp_utf16};

/// The largest integer that every JSON reader keeps exact: 2^53-1.
pub const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;
