//! What arbiters say to one another (consensus#messages): votes and the messages around them, with their bytes. Pure.
//!
//! ```text
//! vote ---- signed tuple, wrapped by:      phases --- COMMIT, REVEAL, VIEW_CHANGE of the round
//!                                          proofs --- EQUIVOCATION_PROOF and CERTIFICATE, unsigned: votes speak for them
//! ```

/// The accessors of messages that say who signed them, when and how in fields of the same names.
macro_rules! signed {
    ($($message:ty),+) => {$(
        impl $crate::messages::SignedMessage for $message {
            fn signer_id(&self) -> $crate::identity::SenderId {
                self.sender_id
            }

            fn timestamp_logical(&self) -> u64 {
                self.timestamp_logical
            }

            fn signature(&self) -> &$crate::signing::SignatureBytes {
                &self.signature
            }

            fn set_signature(&mut self, signature: $crate::signing::SignatureBytes) {
                self.signature = signature;
            }
        }
    )+};
}
mod phases;
mod proofs;
mod vote;

use serde_json::Value;

use super::canonical::{self, ConsensusSerializationError, Fields, Hash, Reader, SALT_LEN, sha256};
use super::identity::{PublicKeyBytes, SenderId};
use super::signing::{SignatureBytes, Signer, Verifier};

pub use phases::{Commit, Reveal, ViewChange, ViewChangeReason};
pub use proofs::{Certificate, EquivocationProof};
pub use vote::{Vote, VoteGroup, VoteType};

/// The key under which signed messages carry their signature.
const SIGNATURE: &str = "signature";

/// Anything with a canonical form.
pub trait Message: Sized {
    /// What the message's `msg_type` says; votes have none.
    const MSG_TYPE: Option<&'static str>;

    /// The message as JSON, byte strings as hex.
    fn to_value(&self) -> Value;

    /// The message that `value` holds, without further keys.
    ///
    /// # Errors
    /// Anything that such a message does not have.
    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError>;

    /// The canonical bytes.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::IntegerRange`] for integers beyond 2^63−1.
    fn canonical(&self) -> Result<Vec<u8>, ConsensusSerializationError> {
        canonical::encode(&self.to_value())
    }

    /// The message whose canonical bytes these are. Strict: no other bytes are taken.
    ///
    /// # Errors
    /// Anything else.
    fn decode(bytes: &[u8]) -> Result<Self, ConsensusSerializationError> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|_| ConsensusSerializationError::malformed("not one JSON value"))?;
        let message = Self::from_value(&value)?;
        // Catches what the parser forgives: blanks, escapes, order, keys given twice.
        if message.canonical()? != bytes {
            return Err(ConsensusSerializationError::malformed("not in canonical form"));
        }
        Ok(message)
    }

    /// SHA-256 of the canonical bytes, signature included.
    ///
    /// # Errors
    /// As [`Message::canonical`].
    fn hash(&self) -> Result<Hash, ConsensusSerializationError> {
        Ok(sha256(&[&self.canonical()?]))
    }
}

/// A message that one arbiter answers for.
pub trait SignedMessage: Message {
    /// Who says to have signed it.
    fn signer_id(&self) -> SenderId;

    /// Its logical time; 0 where it has none.
    fn timestamp_logical(&self) -> u64;

    /// The signature, right or wrong.
    fn signature(&self) -> &SignatureBytes;

    /// Puts a signature in.
    fn set_signature(&mut self, signature: SignatureBytes);

    /// What the signature is over: the canonical form without the message's own `signature`; nested ones stay. No
    /// two kinds of messages have the same keys, so a signature cannot be shown as one of another kind.
    ///
    /// # Errors
    /// As [`Message::canonical`].
    fn signing_bytes(&self) -> Result<Vec<u8>, ConsensusSerializationError> {
        let mut value = self.to_value();
        if let Value::Object(members) = &mut value {
            members.remove(SIGNATURE);
        }
        canonical::encode(&value)
    }

    /// The message with `signer`'s signature. Whether `signer` is who the message names is the caller's concern:
    /// simulated liars need both.
    ///
    /// # Errors
    /// As [`Message::canonical`].
    fn signed_by(mut self, signer: &(impl Signer + ?Sized)) -> Result<Self, ConsensusSerializationError> {
        let signature = signer.sign(&self.signing_bytes()?);
        self.set_signature(signature);
        Ok(self)
    }

    /// Whether the holder of `public_key` has signed this, and is who the message names.
    fn is_signed_by(&self, public_key: &PublicKeyBytes, verifier: &(impl Verifier + ?Sized)) -> bool {
        self.signer_id() == SenderId::of(public_key)
            && self.signing_bytes().is_ok_and(|bytes| verifier.verifies(public_key, &bytes, self.signature()))
    }
}

/// `SHA-256(canonical(vote) ‖ salt)`: what a COMMIT promises (consensus#signatures).
///
/// # Errors
/// As [`Message::canonical`].
pub fn commit_hash(vote: &Vote, salt: &[u8; SALT_LEN]) -> Result<Hash, ConsensusSerializationError> {
    Ok(sha256(&[&vote.canonical()?, salt]))
}

/// Begins to write a message of kind `M`.
fn fields<M: Message>() -> Fields {
    match M::MSG_TYPE {
        Some(msg_type) => Fields::default().text("msg_type", msg_type),
        None => Fields::default(),
    }
}

/// Begins to read a message of kind `M`.
fn read<M: Message>(value: &Value) -> Result<Reader<'_>, ConsensusSerializationError> {
    let mut reader = Reader::of(value)?;
    if let Some(expected) = M::MSG_TYPE {
        reader.parsed("msg_type", |found| (found == expected).then_some(()))?;
    }
    Ok(reader)
}
