//! One arbiter, one round, two tuples (theta §8): detected, proven and punished. Pure.

use colibri_canonical::hex;
use std::collections::{BTreeMap, BTreeSet};

use super::canonical::{ConsensusSerializationError, Fields, Hash, encode, sha256};
use super::finality::FinalityLevel;
use super::identity::{PublicKeyBytes, SenderId};
use super::messages::{EquivocationProof, Message, SignedMessage, Vote};
use super::signing::Verifier;

/// How hard lambda punishes it.
pub const EQUIVOCATION_BAND: &str = "critical";
/// The lambda domain in which it is punished.
pub const EQUIVOCATION_DOMAIN: &str = "arbitration";

/// Why two votes prove nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EquivocationError {
    /// Two arbiters.
    #[error("the votes are of different senders")]
    DifferentSenders,
    /// Two rounds.
    #[error("the votes are of different rounds")]
    DifferentRounds,
    /// One tuple: repeating it, or changing the vote's type, is no fault.
    #[error("both votes are on the same tuple")]
    SameTuple,
    /// A number beyond 2^63−1.
    #[error(transparent)]
    Serialization(#[from] ConsensusSerializationError),
}

/// What is wrong with a proof, in the order in which it is looked for.
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
    /// The reason's name.
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
/// Votes that prove nothing.
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

/// The digest as text; lambda knows the event by it.
pub fn evidence_hash_hex(proof: &EquivocationProof) -> String {
    hex::encode(&proof.evidence_hash)
}

/// Whether a proof proves what it says of the holder of `public_key`.
///
/// # Errors
/// The first thing wrong with it.
pub fn verify_equivocation_proof(
    proof: &EquivocationProof,
    public_key: &PublicKeyBytes,
    verifier: &(impl Verifier + ?Sized),
) -> Result<(), InvalidProof> {
    let (a, b) = (&proof.signed_vote_a, &proof.signed_vote_b);
    // Not `is_signed_by`: whose name stands in the votes is looked at below, under a reason of its own.
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
        // The order of the votes counts as well: a proof has one form.
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
    /// Looks at a vote; its proof, if it is the first that shows its sender's fault.
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

    /// The proofs so far, by arbiter.
    pub fn proofs(&self) -> &BTreeMap<SenderId, EquivocationProof> {
        &self.proofs
    }

    /// Whether `sender` is proven to equivocate.
    pub fn is_proven(&self, sender: &SenderId) -> bool {
        self.proofs.contains_key(sender)
    }
}

/// What lambda is asked for: a critical penalty with a scar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlashPenalty {
    /// Who is punished.
    pub arbiter_id: SenderId,
    /// [`EQUIVOCATION_BAND`].
    pub band: &'static str,
    /// [`EQUIVOCATION_DOMAIN`].
    pub domain: &'static str,
    /// Lambda's event id: the evidence hash.
    pub event_id: String,
    /// One sentence for people.
    pub reason: String,
    /// Lambda's epoch.
    pub epoch: u64,
    /// A penalty that leaves a mark.
    pub scar: bool,
}

/// Lambda has punished this event already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoublePenalty;

/// Where penalties go.
pub trait Reputation {
    /// What lambda writes into its history.
    type HistoryEvent;

    /// Punishes.
    ///
    /// # Errors
    /// [`DoublePenalty`].
    fn apply_penalty(&mut self, penalty: &SlashPenalty) -> Result<Self::HistoryEvent, DoublePenalty>;
}

/// What has been punished, kept by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slashed {
    evidence: BTreeSet<Hash>,
    faults: BTreeSet<(SenderId, u64)>,
}

/// Why nobody was punished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotApplied {
    /// The proof proves nothing.
    InvalidProof(InvalidProof),
    /// The evidence was used, or the arbiter punished for this round: several pairs of votes are one fault.
    Duplicate,
    /// Lambda knows the event.
    LambdaDoubleJeopardy,
}

impl NotApplied {
    /// The reason's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidProof(_) => "invalid_proof",
            Self::Duplicate => "duplicate",
            Self::LambdaDoubleJeopardy => "lambda_double_jeopardy",
        }
    }
}

/// Punishes a proven equivocation once (theta §8.2); what lambda made of it is the result.
///
/// # Errors
/// Why not.
pub fn apply_equivocation_slash<R: Reputation>(
    proof: &EquivocationProof,
    public_key: &PublicKeyBytes,
    verifier: &(impl Verifier + ?Sized),
    reputation: &mut R,
    seen: &mut Slashed,
    epoch: u64,
) -> Result<R::HistoryEvent, NotApplied> {
    verify_equivocation_proof(proof, public_key, verifier).map_err(NotApplied::InvalidProof)?;
    let fault = (proof.arbiter_id, proof.round_id);
    if seen.evidence.contains(&proof.evidence_hash) || seen.faults.contains(&fault) {
        return Err(NotApplied::Duplicate);
    }
    let penalty = SlashPenalty {
        arbiter_id: proof.arbiter_id,
        band: EQUIVOCATION_BAND,
        domain: EQUIVOCATION_DOMAIN,
        event_id: evidence_hash_hex(proof),
        reason: format!("equivocation in round {}", proof.round_id),
        epoch,
        scar: true,
    };
    let event =
        reputation.apply_penalty(&penalty).map_err(|DoublePenalty| NotApplied::LambdaDoubleJeopardy)?;
    seen.evidence.insert(proof.evidence_hash);
    seen.faults.insert(fault);
    Ok(event)
}
