//! Writes members of a canonical JSON object (RFC 8785) whose keys are known and stand sorted in the caller's
//! code. That saves the general encoder's map where hashing is on the path of every call; tests hold the two
//! together. Pure.

use crate::escape::{escape, needs_escape};

/// How many bytes of a text are looked at together.
const BLOCK: usize = 32;

/// Appends `key`, which holds everything from the comma or brace to the colon, and a string or null.
pub fn text(out: &mut Vec<u8>, key: &[u8], value: Option<&str>) {
    out.extend_from_slice(key);
    let Some(value) = value else { return out.extend_from_slice(b"null") };
    out.push(b'"');
    let bytes = value.as_bytes();
    // Runs that need no escape are copied as a whole: contents may be a megabyte.
    let mut copied = 0;
    for (number, block) in bytes.chunks(BLOCK).enumerate() {
        // No branch a byte, so that the block is looked at as a whole: verification is bound by this.
        if !block.iter().fold(false, |found, &byte| found | needs_escape(byte)) {
            continue;
        }
        for (place, &byte) in block.iter().enumerate().filter(|&(_, &byte)| needs_escape(byte)) {
            let at = number * BLOCK + place;
            out.extend_from_slice(&bytes[copied..at]);
            copied = at + 1;
            out.extend_from_slice(escape(byte).as_bytes());
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// Appends `key` and an integer or null.
pub fn number(out: &mut Vec<u8>, key: &[u8], value: Option<i64>) {
    out.extend_from_slice(key);
    match value {
        Some(value) => out.extend_from_slice(value.to_string().as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
}
