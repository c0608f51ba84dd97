//! A vote: one arbiter's signed opinion on one tuple of a round.

use colibri_canonical::hex;
use std::fmt;

use serde_json::Value;

use super::{Message, SIGNATURE, fields, read};
use crate::canonical::{ConsensusSerializationError, Hash};
use crate::identity::SenderId;
use crate::signing::SignatureBytes;

/// The opinion of a vote on its tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VoteType {
    /// For it; the only kind that counts towards a quorum.
    Accept,
    /// Against it.
    Reject,
    /// Neither.
    Abstain,
}

impl VoteType {
    /// Returns the word in messages and rows.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "ACCEPT",
            Self::Reject => "REJECT",
            Self::Abstain => "ABSTAIN",
        }
    }

    /// Returns the type that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Accept, Self::Reject, Self::Abstain].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The tuple that votes are about, and by which they are counted: round, root and rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VoteGroup {
    /// The round.
    pub round_id: u64,
    /// The proposed Merkle root.
    pub merkle_root: Hash,
    /// The rules under which it was made.
    pub rule_version_hash: Hash,
}

impl fmt::Display for VoteGroup {
    /// Writes `<round_id>|<merkle_root hex>|<rule_version_hash hex>` (consensus#signatures).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}|{}|{}",
            self.round_id,
            hex::encode(&self.merkle_root),
            hex::encode(&self.rule_version_hash)
        )
    }
}

/// A vote. It is not bound to a view: it binds its sender for the whole round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// The round.
    pub round_id: u64,
    /// The root that is voted on.
    pub merkle_root: Hash,
    /// The rules under which it was made.
    pub rule_version_hash: Hash,
    /// Whose vote it is.
    pub sender_id: SenderId,
    /// The opinion.
    pub vote_type: VoteType,
    /// When, in logical time.
    pub timestamp_logical: u64,
    /// The sender's signature.
    pub signature: SignatureBytes,
}

impl Vote {
    /// Returns the tuple that it is about.
    pub fn group(&self) -> VoteGroup {
        VoteGroup {
            round_id: self.round_id,
            merkle_root: self.merkle_root,
            rule_version_hash: self.rule_version_hash,
        }
    }
}

impl Message for Vote {
    const MSG_TYPE: Option<&'static str> = None;

    fn to_value(&self) -> Value {
        fields::<Self>()
            .bytes("merkle_root", &self.merkle_root)
            .integer("round_id", self.round_id)
            .bytes("rule_version_hash", &self.rule_version_hash)
            .text("sender_id", self.sender_id.as_str())
            .bytes(SIGNATURE, &self.signature)
            .integer("timestamp_logical", self.timestamp_logical)
            .text("vote_type", self.vote_type.as_str())
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let vote = Self {
            round_id: reader.integer("round_id")?,
            merkle_root: reader.bytes("merkle_root")?,
            rule_version_hash: reader.bytes("rule_version_hash")?,
            sender_id: reader.parsed("sender_id", SenderId::parse)?,
            vote_type: reader.parsed("vote_type", VoteType::parse)?,
            timestamp_logical: reader.integer("timestamp_logical")?,
            signature: reader.bytes(SIGNATURE)?,
        };
        reader.finish()?;
        Ok(vote)
    }
}

signed!(Vote);
