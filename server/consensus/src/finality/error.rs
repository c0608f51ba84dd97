//! What the finality machine refuses.

use super::FinalityLevel;
use crate::canonical::{ConsensusSerializationError, Hash};
use crate::identity::SenderId;
use crate::quorum::QuorumError;

/// Two tuples of one round that both have a quorum: more arbiters are faulty than the committee can bear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The round.
    pub round_id: u64,
    /// Both roots, sorted.
    pub divergent_roots: [Hash; 2],
    /// The rules of the tuple that had its quorum first.
    pub rule_version_hash: Hash,
    /// The logical time of the vote that completed the second quorum.
    pub timestamp_logical: u64,
}

/// Why the machine refused something, or stopped (consensus#checks). Unless it says otherwise, nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FinalityError {
    /// The committee is empty.
    #[error(transparent)]
    Quorum(#[from] QuorumError),
    /// A committee names a member twice.
    #[error("{0} is in the committee twice")]
    DuplicateArbiter(SenderId),
    /// A dispute window of no epochs.
    #[error("the dispute window must be at least 1 epoch")]
    BadWindow,
    /// A vote of another round.
    #[error("a vote of round {got} does not belong to round {round_id}")]
    WrongRound {
        /// This round.
        round_id: u64,
        /// The vote's.
        got: u64,
    },
    /// Epochs never go back.
    #[error("epoch {got} is before epoch {last}")]
    EpochRegression {
        /// The last epoch.
        last: u64,
        /// The one that was given.
        got: u64,
    },
    /// A seal root is 32 bytes.
    #[error("a seal root is 32 bytes; got {0}")]
    BadSealRoot(usize),
    /// A second tuple has a quorum. The vote is recorded and the round will never be HARD or ABSOLUTE; returned only once.
    #[error("two tuples of round {} have a quorum", .0.round_id)]
    SafetyViolation(Box<Divergence>),
    /// A step that is not to the very next level.
    #[error("a round at {from} cannot go to {to}")]
    Rollback {
        /// The level.
        from: FinalityLevel,
        /// The level asked for.
        to: FinalityLevel,
    },
    /// The round is not final enough for effects that others see.
    #[error("{effects} effects require {required} finality; round {round_id} is {level}")]
    PrematureExternalEffect {
        /// `external` or `irreversible`.
        effects: &'static str,
        /// What they require.
        required: FinalityLevel,
        /// The round.
        round_id: u64,
        /// Its level.
        level: FinalityLevel,
    },
    /// A number that evidence cannot hold.
    #[error(transparent)]
    Serialization(#[from] ConsensusSerializationError),
}
