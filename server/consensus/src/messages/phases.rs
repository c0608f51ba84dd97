//! The messages of a round's phases. Each carries its view: a leader may repeat, and a stale message must not count
//! in a later view.

use serde_json::Value;

use super::{Message, SIGNATURE, Vote, fields, read};
use crate::canonical::{ConsensusSerializationError, Hash, SALT_LEN};
use crate::identity::SenderId;
use crate::signing::SignatureBytes;

/// A promise to reveal one vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The round.
    pub round_id: u64,
    /// The view, from 0.
    pub view: u64,
    /// See [`commit_hash`](super::commit_hash).
    pub commit_hash: Hash,
    /// Who promises.
    pub sender_id: SenderId,
    /// When, in logical time.
    pub timestamp_logical: u64,
    /// The sender's signature.
    pub signature: SignatureBytes,
}

/// A promised vote with the salt that hid it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reveal {
    /// The round.
    pub round_id: u64,
    /// The view, from 0.
    pub view: u64,
    /// The vote, signed by itself.
    pub vote: Vote,
    /// What was hashed behind it.
    pub salt: [u8; SALT_LEN],
    /// Who reveals.
    pub sender_id: SenderId,
    /// When, in logical time.
    pub timestamp_logical: u64,
    /// The sender's signature.
    pub signature: SignatureBytes,
}

/// Why an arbiter asks for the next view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViewChangeReason {
    /// Too little came in time.
    Timeout,
    /// A member signed two tuples.
    EquivocationObserved,
    /// The proposal cannot be voted on.
    MalformedProposal,
}

impl ViewChangeReason {
    /// Returns the word in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::EquivocationObserved => "equivocation_observed",
            Self::MalformedProposal => "malformed_proposal",
        }
    }

    /// Returns the reason that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Timeout, Self::EquivocationObserved, Self::MalformedProposal]
            .into_iter()
            .find(|reason| reason.as_str() == word)
    }
}

/// A wish to leave a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewChange {
    /// The round.
    pub round_id: u64,
    /// The view to be left.
    pub view: u64,
    /// Who leads it as far as the sender knows; informational.
    pub current_leader: SenderId,
    /// Why.
    pub reason: ViewChangeReason,
    /// Who asks.
    pub sender_id: SenderId,
    /// When, in logical time.
    pub timestamp_logical: u64,
    /// The sender's signature.
    pub signature: SignatureBytes,
}

impl Message for Commit {
    const MSG_TYPE: Option<&'static str> = Some("COMMIT");

    fn to_value(&self) -> Value {
        fields::<Self>()
            .bytes("commit_hash", &self.commit_hash)
            .integer("round_id", self.round_id)
            .text("sender_id", self.sender_id.as_str())
            .bytes(SIGNATURE, &self.signature)
            .integer("timestamp_logical", self.timestamp_logical)
            .integer("view", self.view)
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let commit = Self {
            round_id: reader.integer("round_id")?,
            view: reader.integer("view")?,
            commit_hash: reader.bytes("commit_hash")?,
            sender_id: reader.parsed("sender_id", SenderId::parse)?,
            timestamp_logical: reader.integer("timestamp_logical")?,
            signature: reader.bytes(SIGNATURE)?,
        };
        reader.finish()?;
        Ok(commit)
    }
}

impl Message for Reveal {
    const MSG_TYPE: Option<&'static str> = Some("REVEAL");

    fn to_value(&self) -> Value {
        fields::<Self>()
            .integer("round_id", self.round_id)
            .bytes("salt", &self.salt)
            .text("sender_id", self.sender_id.as_str())
            .bytes(SIGNATURE, &self.signature)
            .integer("timestamp_logical", self.timestamp_logical)
            .integer("view", self.view)
            .value("vote", self.vote.to_value())
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let reveal = Self {
            round_id: reader.integer("round_id")?,
            view: reader.integer("view")?,
            vote: Vote::from_value(reader.value("vote")?)?,
            salt: reader.bytes("salt")?,
            sender_id: reader.parsed("sender_id", SenderId::parse)?,
            timestamp_logical: reader.integer("timestamp_logical")?,
            signature: reader.bytes(SIGNATURE)?,
        };
        reader.finish()?;
        Ok(reveal)
    }
}

impl Message for ViewChange {
    const MSG_TYPE: Option<&'static str> = Some("VIEW_CHANGE");

    fn to_value(&self) -> Value {
        fields::<Self>()
            .text("current_leader", self.current_leader.as_str())
            .text("reason", self.reason.as_str())
            .integer("round_id", self.round_id)
            .text("sender_id", self.sender_id.as_str())
            .bytes(SIGNATURE, &self.signature)
            .integer("timestamp_logical", self.timestamp_logical)
            .integer("view", self.view)
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let change = Self {
            round_id: reader.integer("round_id")?,
            view: reader.integer("view")?,
            current_leader: reader.parsed("current_leader", SenderId::parse)?,
            reason: reader.parsed("reason", ViewChangeReason::parse)?,
            sender_id: reader.parsed("sender_id", SenderId::parse)?,
            timestamp_logical: reader.integer("timestamp_logical")?,
            signature: reader.bytes(SIGNATURE)?,
        };
        reader.finish()?;
        Ok(change)
    }
}

signed!(Commit, Reveal, ViewChange);
