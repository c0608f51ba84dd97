//! JSON as the project hashes, compares and escapes it. Parsing is `serde_json`'s.

pub mod canonical;
mod canonical_text;
mod error;
pub mod escape;
mod hash;
pub mod scan;

pub use canonical::{NumberRule, canonical_json};
pub(crate) use canonical_text::{canonical_text, value_of};
pub use error::CanonicalError;
pub use hash::{hash_json, sha256_hex};

/// The largest integer that every JSON reader keeps exact: 2^53-1.
pub const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;
