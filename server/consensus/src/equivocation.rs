//! One arbiter, one round, two tuples (consensus#equivocation): detected and proven. Pure.

use std::collections::BTreeMap;

use super::canonical::{ConsensusSerializationError, Fields, encode, sha256};
use super::identity::{PublicKeyBytes, SenderId};
use super::level::FinalityLevel;
use super::messages::{EquivocationProof, Message, SignedMessage, Vote};
use super::signing::Verifier;

/// Why two votes prove nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EquivocationError {
    /// They are of two arbiters.
    #[error("the votes are of different senders")]
    DifferentSenders,
    /// They are of two rounds.
    #[error("the votes are of different rounds")]
    DifferentRounds,
    /// They are on one tuple: repeating it, or changing the vote's type, is allowed.
    #[error("both votes are on the same tuple")]
    SameTuple,
    /// A number beyond 2^63−1.
    #[error(transparent)]
    Serialization(#[from] ConsensusSerializationError),
}

/// What is wrong with a proof, in the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidProof {
    /// The first vote's signature is not the key's, or the key is not the arbiter's.
    SigAInvalid,
    /// The second vote's signature is not the key's.
    SigBInvalid,
    /// Both votes are on the same tuple.
    SameTuple,
    /// Rounds or senders differ between the votes, or from the proof.
    DifferentRoundOrLevel,
    /// The digest is not that of the votes in their order.
    EvidenceHashMismatch,
}

impl InvalidProof {
    /// Returns the reason's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SigAInvalid => "sig_a_invalid",
            Self::SigBInvalid => "sig_b_invalid",
            Self::SameTuple => "same_tuple",
            Self::DifferentRoundOrLevel => "different_round_or_level",
            Self::EvidenceHashMismatch => "evidence_hash_mismatch",
        }
    }
}

/// Proves that one arbiter has signed two tuples. Which vote is given first makes no difference.
///
/// # Errors
/// If the votes prove nothing.
pub fn build_equivocation_proof(
    vote_x: &Vote,
    vote_y: &Vote,
    finality_level: FinalityLevel,
) -> Result<EquivocationProof, EquivocationError> {
    if vote_x.sender_id != vote_y.sender_id {
        return Err(EquivocationError::DifferentSenders);
    }
    if vote_x.round_id != vote_y.round_id {
        return Err(EquivocationError::DifferentRounds);
    }
    if vote_x.group() == vote_y.group() {
        return Err(EquivocationError::SameTuple);
    }
    // Of one round, groups order as their keys' texts do.
    let (a, b) = if vote_x.group() < vote_y.group() { (vote_x, vote_y) } else { (vote_y, vote_x) };
    let body = Fields::default()
        .text("arbiter_id", a.sender_id.as_str())
        .integer("round_id", a.round_id)
        .value("signed_vote_a", a.to_value())
        .value("signed_vote_b", b.to_value());
    Ok(EquivocationProof {
        arbiter_id: a.sender_id,
        round_id: a.round_id,
        finality_level,
        signed_vote_a: a.clone(),
        signed_vote_b: b.clone(),
        evidence_hash: sha256(&[&encode(&body.finish())?]),
    })
}

/// Checks whether a proof proves what it says of the holder of `public_key`.
///
/// # Errors
/// The first thing wrong with it.
pub fn verify_equivocation_proof(
    proof: &EquivocationProof,
    public_key: &PublicKeyBytes,
    verifier: &(impl Verifier + ?Sized),
) -> Result<(), InvalidProof> {
    let (a, b) = (&proof.signed_vote_a, &proof.signed_vote_b);
    // Not `is_signed_by`: the names in the votes are checked below, under a reason of their own.
    let signed = |vote: &Vote| {
        vote.signing_bytes().is_ok_and(|bytes| verifier.verifies(public_key, &bytes, &vote.signature))
    };
    if SenderId::of(public_key) != proof.arbiter_id || !signed(a) {
        return Err(InvalidProof::SigAInvalid);
    }
    if !signed(b) {
        return Err(InvalidProof::SigBInvalid);
    }
    if a.group() == b.group() {
        return Err(InvalidProof::SameTuple);
    }
    if [a.round_id, b.round_id] != [proof.round_id; 2] || [a.sender_id, b.sender_id] != [proof.arbiter_id; 2]
    {
        return Err(InvalidProof::DifferentRoundOrLevel);
    }
    match build_equivocation_proof(a, b, proof.finality_level) {
        // The order of the votes is checked as well: a proof has one form.
        Ok(rebuilt) if rebuilt == *proof => Ok(()),
        _ => Err(InvalidProof::EvidenceHashMismatch),
    }
}

/// Finds equivocations among the votes of one round as they come, one proof an arbiter. Votes come with their
/// signatures already verified.
#[derive(Debug, Clone, Default)]
pub struct EquivocationDetector {
    firsts: BTreeMap<SenderId, Vote>,
    proofs: BTreeMap<SenderId, EquivocationProof>,
}

impl EquivocationDetector {
    /// Takes a vote; returns its proof, if it is the first that shows its sender's fault.
    ///
    /// # Errors
    /// [`EquivocationError::DifferentRounds`] for a vote of another round than the sender's first,
    /// [`EquivocationError::Serialization`].
    pub fn observe(
        &mut self,
        vote: &Vote,
        finality_level: FinalityLevel,
    ) -> Result<Option<EquivocationProof>, EquivocationError> {
        let first = self.firsts.entry(vote.sender_id).or_insert_with(|| vote.clone());
        if first.round_id == vote.round_id && first.group() == vote.group()
            || self.proofs.contains_key(&vote.sender_id)
        {
            return Ok(None);
        }
        let proof = build_equivocation_proof(first, vote, finality_level)?;
        self.proofs.insert(vote.sender_id, proof.clone());
        Ok(Some(proof))
    }

    /// Returns the proofs so far, by arbiter.
    pub fn proofs(&self) -> &BTreeMap<SenderId, EquivocationProof> {
        &self.proofs
    }

    /// Checks whether `sender` is proven to equivocate.
    pub fn is_proven(&self, sender: &SenderId) -> bool {
        self.proofs.contains_key(sender)
    }
}
