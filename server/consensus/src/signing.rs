//! Signatures (consensus#signatures): Ed25519 with the strict rule, behind traits so that a simulation may use a cheaper one.
//! Pure.

use ed25519_dalek::{Signature, Signer as _, VerifyingKey};

use super::canonical::{SEED_LEN, SIG_LEN};
use super::identity::{PublicKeyBytes, SenderId};

/// A signature as it is written, valid or not.
pub type SignatureBytes = [u8; SIG_LEN];

/// A holder of a key who signs.
///
/// What is signed is always a JSON object longer than 32 bytes (consensus#private-keys): the VRF derives its nonces from the same
/// key as Ed25519, and signing a caller's 32 bytes could give the key away.
pub trait Signer {
    /// Returns the key that verifies what this one signs.
    fn public_key(&self) -> PublicKeyBytes;

    /// Returns the signature over `message`.
    fn sign(&self, message: &[u8]) -> SignatureBytes;

    /// Returns the signer's id.
    fn sender_id(&self) -> SenderId {
        SenderId::of(&self.public_key())
    }
}

impl<S: Signer + ?Sized> Signer for &S {
    fn public_key(&self) -> PublicKeyBytes {
        (**self).public_key()
    }

    fn sign(&self, message: &[u8]) -> SignatureBytes {
        (**self).sign(message)
    }
}

/// A rule by which signatures are checked. All nodes of a committee must use the same one.
pub trait Verifier {
    /// Checks whether `signature` is that of `public_key` over `message`.
    fn verifies(&self, public_key: &PublicKeyBytes, message: &[u8], signature: &SignatureBytes) -> bool;
}

/// Ed25519, pure mode, no context. The key is wiped when it is dropped.
#[derive(Clone)]
pub struct Ed25519Signer(ed25519_dalek::SigningKey);

impl Ed25519Signer {
    /// Makes the signer whose private key, in the words of RFC 8032, is `seed`.
    pub fn from_seed(seed: &[u8; SEED_LEN]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }
}

impl std::fmt::Debug for Ed25519Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ed25519Signer({})", self.sender_id())
    }
}

impl Signer for Ed25519Signer {
    fn public_key(&self) -> PublicKeyBytes {
        self.0.verifying_key().to_bytes()
    }

    fn sign(&self, message: &[u8]) -> SignatureBytes {
        self.0.sign(message).to_bytes()
    }
}

/// The strict rule: S < ℓ, A and R canonical and of large order, no batches. So nodes never disagree on a signature.
#[derive(Debug, Clone, Copy, Default)]
pub struct StrictEd25519;

impl Verifier for StrictEd25519 {
    fn verifies(&self, public_key: &PublicKeyBytes, message: &[u8], signature: &SignatureBytes) -> bool {
        let Ok(key) = VerifyingKey::from_bytes(public_key) else { return false };
        // Decoding takes y ≥ p as well; only the form that encoding gives counts (consensus#signatures measured it). R needs no
        // such check: `verify_strict` compares its bytes with those of the point that it computes.
        key.to_edwards().compress().as_bytes() == public_key
            && key.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}
