//! Rows of a round exactly as stored, tampered ones included. Pure.

use super::finality::Transition;
use super::history::Proven;

/// A row of `mcp_consensus_rounds`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundRow {
    /// Its id.
    pub round_id: i64,
    /// The proposed root.
    pub merkle_root: Vec<u8>,
    /// The rules under which it was made.
    pub rule_version_hash: Vec<u8>,
    /// The root of the last agreed round before, or zeros.
    pub prev_merkle_root: Vec<u8>,
    /// Who proposed it.
    pub leader: String,
    /// How many arbiters the committee has.
    pub n_arbiters: i64,
    /// Epochs between HARD and ABSOLUTE.
    pub dispute_window_epochs: i64,
    /// The last epoch.
    pub epoch: i64,
    /// The level.
    pub level: String,
    /// The call that proposed it.
    pub sequence_no: Option<i64>,
}

/// A row of `mcp_consensus_committee`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRow {
    /// From 0.
    pub position: i64,
    /// Who.
    pub sender_id: String,
    /// The member's key.
    pub public_key: Vec<u8>,
}

/// A row of `mcp_consensus_votes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteRow {
    /// Its number.
    pub seq: i64,
    /// Whose.
    pub sender_id: String,
    /// The sender's key.
    pub public_key: Vec<u8>,
    /// The root that is voted on.
    pub merkle_root: Vec<u8>,
    /// The rules under which it was made.
    pub rule_version_hash: Vec<u8>,
    /// What it says.
    pub vote_type: String,
    /// When, in logical time.
    pub timestamp_logical: i64,
    /// The sender's signature.
    pub signature: Vec<u8>,
    /// Whether it was cast with a proposal or by itself.
    pub origin: String,
    /// The epoch in which finality got it.
    pub epoch: Option<i64>,
    /// The call that signed it.
    pub sequence_no: Option<i64>,
}

/// A row of `mcp_consensus_transitions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionRow {
    /// From 0.
    pub ordinal: i64,
    /// The level before.
    pub from_level: String,
    /// The level after.
    pub to_level: String,
    /// In which epoch.
    pub epoch: i64,
    /// What proves it.
    pub evidence: Vec<u8>,
}

impl TransitionRow {
    /// Makes the row of a round's step.
    pub fn of(ordinal: usize, step: &Transition) -> Self {
        Self {
            ordinal: i64::try_from(ordinal).unwrap_or(i64::MAX),
            from_level: step.from.as_str().to_owned(),
            to_level: step.to.as_str().to_owned(),
            epoch: integer(step.epoch),
            evidence: step.evidence.clone(),
        }
    }
}

/// A row of `mcp_consensus_equivocations`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquivocationRow {
    /// The proof's digest.
    pub evidence_hash: Vec<u8>,
    /// Who.
    pub sender_id: String,
    /// The vote whose group is smaller.
    pub vote_a_seq: i64,
    /// The other one.
    pub vote_b_seq: i64,
    /// The later of the two.
    pub trigger_seq: i64,
    /// What the round had reached before.
    pub finality_level: String,
    /// The state of the penalty.
    pub slash_status: String,
}

/// The state of a penalty that was not applied: the only one that the server writes (consensus#equivocation).
pub(crate) const UNAPPLIED: &str = "UNAPPLIED";

impl EquivocationRow {
    /// Makes the row of a proof.
    pub fn of(proven: &Proven) -> Self {
        Self {
            evidence_hash: proven.evidence_hash.to_vec(),
            sender_id: proven.sender_id.to_string(),
            vote_a_seq: proven.vote_a_seq,
            vote_b_seq: proven.vote_b_seq,
            trigger_seq: proven.trigger_seq,
            finality_level: proven.finality_level.as_str().to_owned(),
            slash_status: UNAPPLIED.to_owned(),
        }
    }
}

/// A round with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRound {
    /// The round.
    pub round: RoundRow,
    /// Its committee, by position.
    pub committee: Vec<MemberRow>,
    /// Its votes, by number.
    pub votes: Vec<VoteRow>,
    /// Its steps, by ordinal.
    pub transitions: Vec<TransitionRow>,
    /// Its equivocations, in the order of their votes.
    pub equivocations: Vec<EquivocationRow>,
}

/// A mark that tells one state of a stored round from another: two processes may write it in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The last epoch.
    pub epoch: i64,
    /// The level.
    pub level: String,
    /// Number and signature of the last vote. The number alone is not enough: after a rollback it is given to another
    /// vote.
    pub last_vote: Option<(i64, Vec<u8>)>,
}

impl StoredRound {
    /// Returns the round's mark.
    pub fn mark(&self) -> Mark {
        Mark {
            epoch: self.round.epoch,
            level: self.round.level.clone(),
            last_vote: self.votes.last().map(|vote| (vote.seq, vote.signature.clone())),
        }
    }
}

/// A vote with all that it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteChange {
    /// The round.
    pub round_id: i64,
    /// The vote.
    pub vote: VoteRow,
    /// The round's last epoch from now on.
    pub epoch: i64,
    /// Its level from now on.
    pub level: String,
    /// The steps it makes.
    pub transitions: Vec<TransitionRow>,
    /// The equivocation that the vote proves.
    pub equivocation: Option<EquivocationRow>,
}

/// Converts an engine's integer to that of a row; engines keep theirs below 2^63.
pub fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
