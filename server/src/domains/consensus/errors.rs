//! The service's refusals, and their only conversion into a tool's declared errors.

use colibri_runtime::handler::{Failure, Fault};

use super::node_key::NodeKeyError;
use crate::catalogue::{ConsensusFinalityError, ConsensusProposeError, ConsensusVoteError};
use colibri_consensus::clock::ClockError;
use colibri_consensus::private_key::PrivateKeyError;
use colibri_consensus::replay::Mismatch;
use colibri_consensus::round::RoundStateError;

/// Why the service refuses a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No round has that id.
    RoundNotFound(String),
    /// The key cannot be used; the text does not repeat it.
    InvalidKey(String),
    /// The sender has already voted explicitly on this tuple.
    AlreadyVoted {
        /// The sender, as text.
        sender_id: String,
        /// The tuple, as text.
        group: String,
    },
    /// A round's rows do not follow from its votes.
    Corrupt(i64, Mismatch),
    /// Logical time is used up.
    ClockExhausted(String),
    /// A storage error or a bug.
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

/// Converts a refusal that the tool does not declare, and that it cannot cause, into a fault.
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
