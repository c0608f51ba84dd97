//! Private keys as callers write them: the forms of consensus#private-keys, read into the one seed that signs and evaluates. Pure.
//!
//! A key is wiped when it is dropped, has no `Debug`, and no error here repeats any of it.

use ed25519_dalek::SigningKey;
use zeroize::{Zeroize, Zeroizing};

/// How long a seed is, the RFC 8032 and RFC 9381 secret key.
pub const SEED_LEN: usize = 32;
/// The bytes before the seed in a PKCS#8 version 1 document of an Ed25519 key (RFC 8410 §7).
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
const PKCS8_LEN: usize = PKCS8_PREFIX.len() + SEED_LEN;
const PAIR_LEN: usize = 2 * SEED_LEN;

/// Why a text is not a private key, in the words of consensus#private-keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PrivateKeyError {
    /// Not pairs of lowercase hex characters. A tool's schema refuses it before.
    #[error("key is not lowercase hex of even length")]
    NotHex,
    /// The text is empty.
    #[error("key is empty")]
    Empty,
    /// As long as a PKCS#8 document, but not one of an Ed25519 key.
    #[error("48-byte key is not an Ed25519 PKCS#8 document")]
    NotPkcs8,
    /// Seed and public key that do not belong together.
    #[error("public half does not match the seed")]
    PublicHalf,
    /// A length that no form has.
    #[error("expected 32, 48 or 64 bytes, got {0}")]
    Length(usize),
}

/// An Ed25519 seed.
pub struct PrivateKey([u8; SEED_LEN]);

impl PrivateKey {
    /// Makes the key with that seed; every 32 bytes are one.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        Self(*seed)
    }

    /// Returns the seed, for code that signs or evaluates with it.
    pub fn seed(&self) -> &[u8; SEED_LEN] {
        &self.0
    }

    /// Returns the Ed25519 public key.
    pub fn public_key(&self) -> [u8; 32] {
        SigningKey::from_bytes(&self.0).verifying_key().to_bytes()
    }
}

impl Drop for PrivateKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Reads a key from lowercase hex: a seed, a PKCS#8 version 1 document, or a seed and its public key.
///
/// # Errors
/// [`PrivateKeyError`], for every text that consensus#private-keys refuses.
pub fn parse_private_key(hex: &str) -> Result<PrivateKey, PrivateKeyError> {
    let length = hex.len() / 2;
    if !hex.len().is_multiple_of(2) || !hex.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(PrivateKeyError::NotHex);
    }
    match length {
        0 => Err(PrivateKeyError::Empty),
        SEED_LEN => Ok(PrivateKey(*decoded(hex))),
        PKCS8_LEN => {
            let document: Zeroizing<[u8; PKCS8_LEN]> = decoded(hex);
            let (prefix, seed) = document.split_at(PKCS8_PREFIX.len());
            if prefix == PKCS8_PREFIX { Ok(key(seed)) } else { Err(PrivateKeyError::NotPkcs8) }
        }
        PAIR_LEN => {
            let pair: Zeroizing<[u8; PAIR_LEN]> = decoded(hex);
            let (seed, public) = pair.split_at(SEED_LEN);
            let key = key(seed);
            // Only public halves are compared, so the comparison need not take constant time.
            if key.public_key() == public { Ok(key) } else { Err(PrivateKeyError::PublicHalf) }
        }
        _ => Err(PrivateKeyError::Length(length)),
    }
}

/// Returns the key whose seed is a part, 32 bytes long, of a longer form.
fn key(seed: &[u8]) -> PrivateKey {
    let mut key = PrivateKey([0; SEED_LEN]);
    key.0.iter_mut().zip(seed).for_each(|(to, from)| *to = *from);
    key
}

/// Decodes a text that is lowercase hex of that length: by arithmetic alone, so that the time taken says
/// nothing about the key.
fn decoded<const N: usize>(hex: &str) -> Zeroizing<[u8; N]> {
    let value = |character: u8| (character & 15) + 9 * (character >> 6);
    let mut bytes = Zeroizing::new([0; N]);
    for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = value(pair[0]) << 4 | value(pair[1]);
    }
    bytes
}
