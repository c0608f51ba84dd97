//! The messages of arbiters (consensus#messages): votes and the messages around them, with their bytes. Pure.
//!
//! ```text
//! vote ---- signed tuple, wrapped by:      phases --- COMMIT, REVEAL, VIEW_CHANGE of the round
//!                                          proofs --- EQUIVOCATION_PROOF and CERTIFICATE, unsigned: their votes are signed
//! ```

/// Defines the accessors of messages whose fields for signer, time and signature have the same names.
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

/// A message with a canonical form.
pub trait Message: Sized {
    /// The message's `msg_type`; `None` for votes.
    const MSG_TYPE: Option<&'static str>;

    /// Returns the message as JSON, byte strings as hex.
    fn to_value(&self) -> Value;

    /// Reads the message that `value` holds, without further keys.
    ///
    /// # Errors
    /// If `value` is not such a message.
    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError>;

    /// Returns the canonical bytes.
    ///
    /// # Errors
    /// [`ConsensusSerializationError::IntegerRange`] for integers beyond 2^63−1.
    fn canonical(&self) -> Result<Vec<u8>, ConsensusSerializationError> {
        canonical::encode(&self.to_value())
    }

    /// Decodes the message with these canonical bytes. Strict: it takes no other bytes.
    ///
    /// # Errors
    /// For all other bytes.
    fn decode(bytes: &[u8]) -> Result<Self, ConsensusSerializationError> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|_| ConsensusSerializationError::malformed("not one JSON value"))?;
        let message = Self::from_value(&value)?;
        // Refuses what the parser accepts: blanks, escapes, another order, repeated keys.
        if message.canonical()? != bytes {
            return Err(ConsensusSerializationError::malformed("not in canonical form"));
        }
        Ok(message)
    }

    /// Returns SHA-256 of the canonical bytes, signature included.
    ///
    /// # Errors
    /// As [`Message::canonical`].
    fn hash(&self) -> Result<Hash, ConsensusSerializationError> {
        Ok(sha256(&[&self.canonical()?]))
    }
}

/// A message that one arbiter signs.
pub trait SignedMessage: Message {
    /// Returns the signer that the message names.
    fn signer_id(&self) -> SenderId;

    /// Returns its logical time; 0 for messages without one.
    fn timestamp_logical(&self) -> u64;

    /// Returns the signature, valid or not.
    fn signature(&self) -> &SignatureBytes;

    /// Sets the signature.
    fn set_signature(&mut self, signature: SignatureBytes);

    /// Returns the bytes that are signed: the canonical form without the message's own `signature`; nested ones stay. No
    /// two kinds of messages have the same keys, so a signature of one kind is invalid for another.
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

    /// Returns the message with `signer`'s signature. It does not check that `signer` is the one that the message names,
    /// since simulated liars sign in others' names.
    ///
    /// # Errors
    /// As [`Message::canonical`].
    fn signed_by(mut self, signer: &(impl Signer + ?Sized)) -> Result<Self, ConsensusSerializationError> {
        let signature = signer.sign(&self.signing_bytes()?);
        self.set_signature(signature);
        Ok(self)
    }

    /// Checks whether the holder of `public_key` has signed this, and is the signer that the message names.
    fn is_signed_by(&self, public_key: &PublicKeyBytes, verifier: &(impl Verifier + ?Sized)) -> bool {
        self.signer_id() == SenderId::of(public_key)
            && self.signing_bytes().is_ok_and(|bytes| verifier.verifies(public_key, &bytes, self.signature()))
    }
}

/// Returns `SHA-256(canonical(vote) ‖ salt)`, which a COMMIT promises (consensus#signatures).
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
