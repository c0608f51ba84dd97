//! Ed25519 keys of tree heads (proof#keys, RFC 8032): one signs, any number are trusted when a head is checked.

use colibri_canonical::hex;
use std::fmt;

use ed25519_dalek::{Signature, Signer, VerifyingKey};
use sha2::{Digest, Sha256};

use super::head::{HeadSignature, SignedTreeHead, TreeHead};
use crate::secret::Secret;

/// How many characters of the public key's digest make its id.
const KEY_ID_CHARS: usize = 32;

/// Why a text is not a valid key. Never contains the text, which may be secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextError {
    /// Not 64 hex characters.
    #[error("a key is 64 hex characters (32 bytes)")]
    NotHex,
    /// Not a point of the curve in its one form, or one of small order, which would verify anything.
    #[error("the 64 hex characters are not an Ed25519 public key")]
    NotAKey,
}

/// A key that signs. Only its id can be printed.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// Makes a new key from 32 random bytes, which are its seed.
    pub fn generate(random: [u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(&random))
    }

    /// Reads the key whose seed is written in 64 hex characters; one line end may follow.
    ///
    /// # Errors
    /// [`KeyTextError::NotHex`].
    pub fn from_seed_text(text: &str) -> Result<Self, KeyTextError> {
        let line = text.strip_suffix('\n').unwrap_or(text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        hex::decode_array_of_either_case(line).map(Self::generate).ok_or(KeyTextError::NotHex)
    }

    /// Returns the seed as 64 hex characters, for the file that keeps it.
    pub fn seed_text(&self) -> Secret {
        Secret::new(hex::encode(self.0.as_bytes()))
    }

    /// Returns the key that verifies what this one signs.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Returns the public key's id.
    pub fn key_id(&self) -> String {
        self.public_key().key_id()
    }

    /// Signs a head.
    pub fn sign(&self, head: &TreeHead) -> HeadSignature {
        let public_key = self.public_key();
        HeadSignature {
            signature: hex::encode(&self.0.sign(&head.message()).to_bytes()),
            key_id: public_key.key_id(),
            public_key: public_key.hex(),
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.key_id())
    }
}

/// A key that verifies.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads the key written in 64 hex characters.
    ///
    /// # Errors
    /// For any other text, and for keys that would verify forged signatures.
    pub fn parse(text: &str) -> Result<Self, KeyTextError> {
        let bytes = hex::decode_array_of_either_case(text).ok_or(KeyTextError::NotHex)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyTextError::NotAKey)?;
        // Decoding also takes a y of 2^255-19 or more, which RFC 8032 §5.1.3 refuses. So a key has one form only.
        let canonical = key.to_edwards().compress().as_bytes() == &bytes;
        if key.is_weak() || !canonical { Err(KeyTextError::NotAKey) } else { Ok(Self(key)) }
    }

    /// Returns the key as 64 lowercase hex characters.
    pub fn hex(&self) -> String {
        hex::encode(self.0.as_bytes())
    }

    /// Returns its id: the first half of the key's SHA-256, in hex.
    pub fn key_id(&self) -> String {
        let mut id = hex::encode(&Sha256::digest(self.0.as_bytes()));
        id.truncate(KEY_ID_CHARS);
        id
    }

    /// Checks whether `signature`, 128 lowercase hex characters, is this key's over `message`. Strict: S must be
    /// canonical and no point of small order, so a signature has one form only.
    pub fn verifies(&self, message: &[u8], signature: &str) -> bool {
        let Some(bytes) = hex::decode_array(signature) else { return false };
        self.0.verify_strict(message, &Signature::from_bytes(&bytes)).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.hex())
    }
}

/// The public keys whose signatures count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedKeys(Vec<PublicKey>);

impl TrustedKeys {
    /// Reads the keys of a comma-separated list; blanks around a key and empty entries do not matter.
    ///
    /// # Errors
    /// For the first entry that is not a key.
    pub fn parse(list: &str) -> Result<Self, KeyTextError> {
        let mut trusted = Self::default();
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            trusted.trust(PublicKey::parse(entry)?);
        }
        Ok(trusted)
    }

    /// Adds a trusted key.
    pub fn trust(&mut self, key: PublicKey) {
        if !self.0.contains(&key) {
            self.0.push(key);
        }
    }

    /// Returns the keys, in the order in which they were trusted.
    pub fn iter(&self) -> impl Iterator<Item = &PublicKey> {
        self.0.iter()
    }

    /// Returns the keys' ids, for people.
    pub fn key_ids(&self) -> String {
        self.0.iter().map(PublicKey::key_id).collect::<Vec<_>>().join(" or ")
    }

    /// Checks whether no key is trusted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The result of checking a head's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureStatus {
    /// Valid, by a trusted key.
    Valid,
    /// Invalid, or its own fields contradict it.
    Invalid,
    /// The head has no signature.
    Unsigned,
    /// Valid, but by a key that is not trusted.
    UnknownKey,
}

impl SignatureStatus {
    /// Returns the status as it is published.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Unsigned => "unsigned",
            Self::UnknownKey => "unknown_key",
        }
    }
}

/// Checks a head's signature. The key that the head names says nothing about trust. But the signature must
/// at least be valid for that key, and the key id must match. So an edit of any of the three fields is seen even by
/// an auditor who trusts no key (stricter than proof#keys, which asks this of trusted keys only).
pub fn check_signature(head: &SignedTreeHead, trusted: &TrustedKeys) -> SignatureStatus {
    let Some(signed) = &head.signature else { return SignatureStatus::Unsigned };
    let stated = PublicKey::parse(&signed.public_key).ok();
    let Some(key) = stated.filter(|key| key.hex() == signed.public_key && key.key_id() == signed.key_id)
    else {
        return SignatureStatus::Invalid;
    };
    if !key.verifies(&head.head.message(), &signed.signature) {
        return SignatureStatus::Invalid;
    }
    if trusted.0.contains(&key) { SignatureStatus::Valid } else { SignatureStatus::UnknownKey }
}

/// Checks whether a head names one of these keys as its signer.
pub fn signed_by(head: &SignedTreeHead, keys: &TrustedKeys) -> bool {
    let signer = head.signature.as_ref().and_then(|signed| PublicKey::parse(&signed.public_key).ok());
    signer.is_some_and(|signer| keys.iter().any(|key| *key == signer))
}
