//! Messages without a signature of their own: the votes within are signed. What they claim is checked by
//! the equivocation detector and by the round.

use serde_json::Value;

use super::{Message, Vote, fields, read};
use crate::canonical::{ConsensusSerializationError, Hash};
use crate::identity::SenderId;
use crate::level::FinalityLevel;

/// Two votes of one arbiter on different tuples of one round (consensus#equivocation).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EquivocationProof {
    /// The arbiter.
    pub arbiter_id: SenderId,
    /// The round.
    pub round_id: u64,
    /// What the reporter's round had reached; outside the hash.
    pub finality_level: FinalityLevel,
    /// The vote whose group key is smaller.
    pub signed_vote_a: Vote,
    /// The other vote.
    pub signed_vote_b: Vote,
    /// The digest of all but the level: the same for every reporter.
    pub evidence_hash: Hash,
}

/// A quorum of ACCEPT votes on one tuple, sorted by sender, which a completed node shows to one that lags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The round.
    pub round_id: u64,
    /// The votes.
    pub votes: Vec<Vote>,
}

impl Message for EquivocationProof {
    const MSG_TYPE: Option<&'static str> = Some("EQUIVOCATION_PROOF");

    fn to_value(&self) -> Value {
        fields::<Self>()
            .text("arbiter_id", self.arbiter_id.as_str())
            .bytes("evidence_hash", &self.evidence_hash)
            .text("finality_level", self.finality_level.as_str())
            .integer("round_id", self.round_id)
            .value("signed_vote_a", self.signed_vote_a.to_value())
            .value("signed_vote_b", self.signed_vote_b.to_value())
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let proof = Self {
            arbiter_id: reader.parsed("arbiter_id", SenderId::parse)?,
            round_id: reader.integer("round_id")?,
            finality_level: reader.parsed("finality_level", FinalityLevel::parse)?,
            signed_vote_a: Vote::from_value(reader.value("signed_vote_a")?)?,
            signed_vote_b: Vote::from_value(reader.value("signed_vote_b")?)?,
            evidence_hash: reader.bytes("evidence_hash")?,
        };
        reader.finish()?;
        Ok(proof)
    }
}

impl Message for Certificate {
    const MSG_TYPE: Option<&'static str> = Some("CERTIFICATE");

    fn to_value(&self) -> Value {
        fields::<Self>()
            .integer("round_id", self.round_id)
            .value("votes", self.votes.iter().map(Vote::to_value).collect())
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let round_id = reader.integer("round_id")?;
        let votes = reader.items("votes")?.iter().map(Vote::from_value).collect::<Result<_, _>>()?;
        reader.finish()?;
        Ok(Self { round_id, votes })
    }
}
