//! SHA-256, as lowercase hexadecimal text.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{CanonicalError, NumberRule, canonical_json};

/// SHA-256 of `bytes`: 64 lowercase hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        hex.push(digit(byte >> 4));
        hex.push(digit(byte & 0x0f));
    }
    hex
}

/// SHA-256 of the canonical form of `value`.
///
/// # Errors
/// As [`canonical_json`].
pub fn hash_json(value: &Value, rule: NumberRule) -> Result<String, CanonicalError> {
    Ok(sha256_hex(canonical_json(value, rule)?.as_bytes()))
}

fn digit(nibble: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(nibble)])
}
