//! Two rules of signing behind the engine's traits: real Ed25519, and a symbolic one that costs a hash. Real signatures cannot be
//! forged; symbolic ones could be, but no node in the simulation does it.

use colibri_consensus::canonical::sha256;
use colibri_consensus::identity::PublicKeyBytes;
use colibri_consensus::signing::{Ed25519Signer, SignatureBytes, Signer, StrictEd25519, Verifier};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Symbolic,
    Ed25519,
}

impl Scheme {
    /// Returns the key of a seed.
    pub fn key(self, seed: [u8; 32]) -> Key {
        match self {
            Self::Symbolic => Key::Symbolic(sha256(&[b"symbolic key", &seed])),
            Self::Ed25519 => Key::Ed25519(Box::new(Ed25519Signer::from_seed(&seed))),
        }
    }
}

impl Verifier for Scheme {
    fn verifies(&self, public_key: &PublicKeyBytes, message: &[u8], signature: &SignatureBytes) -> bool {
        match self {
            Self::Symbolic => symbolic(public_key, message) == *signature,
            Self::Ed25519 => StrictEd25519.verifies(public_key, message, signature),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Key {
    Symbolic(PublicKeyBytes),
    Ed25519(Box<Ed25519Signer>),
}

impl Signer for Key {
    fn public_key(&self) -> PublicKeyBytes {
        match self {
            Self::Symbolic(public_key) => *public_key,
            Self::Ed25519(signer) => signer.public_key(),
        }
    }

    fn sign(&self, message: &[u8]) -> SignatureBytes {
        match self {
            Self::Symbolic(public_key) => symbolic(public_key, message),
            Self::Ed25519(signer) => signer.sign(message),
        }
    }
}

/// Returns the digest of signer and message, and zeros.
fn symbolic(public_key: &PublicKeyBytes, message: &[u8]) -> SignatureBytes {
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&sha256(&[b"symbolic signature", public_key, message]));
    signature
}
