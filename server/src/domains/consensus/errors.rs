//! Why the service refuses, and the one place where a refusal becomes a tool's declared error.

use colibri_runtime::handler::{Failure, Fault};

use super::node_key::NodeKeyError;
use crate::catalogue::{ConsensusFinalityError, ConsensusProposeError, ConsensusVoteError};
use colibri_consensus::clock::ClockError;
use colibri_consensus::private_key::PrivateKeyError;
use colibri_consensus::replay::Mismatch;
use colibri_consensus::round::RoundStateError;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No round has that id.
    RoundNotFound(String),
    /// The key cannot be used; the text repeats none of it.
    InvalidKey(String),
    /// The sender has voted explicitly on the tuple.
    AlreadyVoted {
        /// Who, as text.
        sender_id: String,
        /// On what, as text.
        group: String,
    },
    /// A round's rows do not follow from its votes.
    Corrupt(i64, Mismatch),
    /// Logical time is used up.
    ClockExhausted(String),
    /// Storage, or a defect.
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<PrivateKeyError> for Refusal {
    fn from(error: PrivateKeyError) -> Self {
        Self::InvalidKey(error.to_string())
    }
}

impl From<NodeKeyError> for Refusal {
    fn from(error: NodeKeyError) -> Self {
        match error {
            NodeKeyError::Fault(fault) => Self::Fault(fault),
            other => Self::InvalidKey(other.to_string()),
        }
    }
}

impl From<ClockError> for Refusal {
    fn from(error: ClockError) -> Self {
        Self::ClockExhausted(error.to_string())
    }
}

impl From<RoundStateError> for Refusal {
    fn from(error: RoundStateError) -> Self {
        match error {
            RoundStateError::Clock(error) => error.into(),
            other => Self::Fault(Fault::Other(other.to_string())),
        }
    }
}

/// What a tool does not declare cannot happen in it; if it did, it is said as a fault.
fn undeclared(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Fault(fault) => fault,
        other => Fault::Other(format!("consensus: {other:?}")),
    }
}

impl From<Refusal> for Failure<ConsensusProposeError> {
    fn from(refusal: Refusal) -> Self {
        Self::Domain(match refusal {
            Refusal::InvalidKey(reason) => ConsensusProposeError::InvalidKey { reason },
            Refusal::ClockExhausted(reason) => ConsensusProposeError::ClockExhausted { reason },
            other => return Self::Fault(undeclared(other)),
        })
    }
}

impl From<Refusal> for Failure<ConsensusVoteError> {
    fn from(refusal: Refusal) -> Self {
        Self::Domain(match refusal {
            Refusal::RoundNotFound(round_id) => ConsensusVoteError::RoundNotFound { round_id },
            Refusal::InvalidKey(reason) => ConsensusVoteError::InvalidKey { reason },
            Refusal::AlreadyVoted { sender_id, group } => {
                ConsensusVoteError::AlreadyVoted { sender_id, group }
            }
            Refusal::Corrupt(round_id, what) => {
                ConsensusVoteError::ConsensusStateCorrupt { round_id: round_id.to_string(), what }
            }
            Refusal::ClockExhausted(reason) => ConsensusVoteError::ClockExhausted { reason },
            Refusal::Fault(fault) => return Self::Fault(fault),
        })
    }
}

impl From<Refusal> for Failure<ConsensusFinalityError> {
    fn from(refusal: Refusal) -> Self {
        Self::Domain(match refusal {
            Refusal::RoundNotFound(round_id) => ConsensusFinalityError::RoundNotFound { round_id },
            Refusal::Corrupt(round_id, what) => {
                ConsensusFinalityError::ConsensusStateCorrupt { round_id: round_id.to_string(), what }
            }
            other => return Self::Fault(undeclared(other)),
        })
    }
}
