//! Why a round refuses something (consensus#checks).

use crate::canonical::ConsensusSerializationError;
use crate::clock::ClockError;
use crate::quorum::QuorumError;

use super::RoundState;

/// Why a round refuses a message or a step. A message refused by the first checks (consensus#checks) changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoundStateError {
    /// The round cannot be set up with this configuration.
    #[error("round configuration: {0}")]
    Config(&'static str),
    /// This view has the node's vote already.
    #[error("this view has begun already")]
    AlreadyBegun,
    /// The step is not allowed in this state.
    #[error("not in {0}")]
    WrongPhase(RoundState),
    /// A message of another round.
    #[error("the message is of another round")]
    WrongRound,
    /// The sender is not in the committee, or not the sender of the message around the vote.
    #[error("the sender is no member of the committee, or not who the message names")]
    UnknownSender,
    /// Not signed by the sender that the message names.
    #[error("the signature is not the sender's")]
    BadSignature,
    /// A logical time that is not accepted.
    #[error("the message's logical time is 0 or too far ahead")]
    ClockJump,
    /// A message of a view that is over.
    #[error("the message's view is over")]
    StaleView,
    /// A second promise of one sender in one view; the first one stands.
    #[error("the sender has committed to something else in this view")]
    ConflictingCommit,
    /// A revealed vote that is not the promised one.
    #[error("the revealed vote is not the one that was committed to")]
    CommitMismatch,
    /// A certificate that shows no quorum.
    #[error("certificate: {0}")]
    BadCertificate(&'static str),
    /// The node's own logical time is used up.
    #[error(transparent)]
    Clock(ClockError),
    /// The node's own message cannot be encoded.
    #[error(transparent)]
    Serialization(#[from] ConsensusSerializationError),
}

impl From<QuorumError> for RoundStateError {
    fn from(_: QuorumError) -> Self {
        Self::Config("the committee is empty")
    }
}

impl From<ClockError> for RoundStateError {
    fn from(error: ClockError) -> Self {
        match error {
            ClockError::ClockJump { .. } => Self::ClockJump,
            ClockError::Exhausted => Self::Clock(error),
        }
    }
}
