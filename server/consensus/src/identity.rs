//! Who an arbiter is: the digest of its key (consensus#identity), so that an id is bound to the key that speaks for it. Pure.

use colibri_canonical::hex;
use std::fmt;

use super::canonical::{PK_LEN, sha256};

/// What stands before the digest.
const PREFIX: &str = "soul:";
const TEXT_LEN: usize = PREFIX.len() + 64;

/// An Ed25519 public key as it is written, valid or not.
pub type PublicKeyBytes = [u8; PK_LEN];

/// `soul:` and the SHA-256 of the raw public key in lowercase hex. Ids order as their texts do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SenderId([u8; TEXT_LEN]);

impl SenderId {
    /// Returns the id of the holder of `public_key`.
    pub fn of(public_key: &PublicKeyBytes) -> Self {
        let mut text = [0; TEXT_LEN];
        let digest = hex::encode(&sha256(&[public_key]));
        for (byte, character) in text.iter_mut().zip(PREFIX.bytes().chain(digest.bytes())) {
            *byte = character;
        }
        Self(text)
    }

    /// Parses the id written in `text`; `None` if no key can have that id.
    pub fn parse(text: &str) -> Option<Self> {
        let _: [u8; 32] = hex::decode_array(text.strip_prefix(PREFIX)?)?;
        Some(Self(text.as_bytes().try_into().ok()?))
    }

    /// Returns the id's text.
    pub fn as_str(&self) -> &str {
        // Both constructors write ASCII only, so the fallback is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl AsRef<str> for SenderId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for SenderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SenderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
