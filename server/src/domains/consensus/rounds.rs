//! Storage for rounds: tables, or memory above tables that must not be written.

use colibri_runtime::handler::Fault;

use colibri_consensus::stored::{Mark, StoredRound, VoteChange};

/// A store of rounds. Its answers hold for the running transaction.
pub trait Rounds {
    /// Returns the state of a round's rows; `None` if the round does not exist.
    ///
    /// # Errors
    /// The engine's error.
    fn mark(&self, round_id: i64) -> Result<Option<Mark>, Fault>;

    /// Returns a round with everything that belongs to it.
    ///
    /// # Errors
    /// The engine's error.
    fn load(&self, round_id: i64) -> Result<Option<StoredRound>, Fault>;

    /// Returns the root of the newest round at QUORUM or above.
    ///
    /// # Errors
    /// The engine's error.
    fn last_agreed_root(&self) -> Result<Option<Vec<u8>>, Fault>;

    /// Returns the largest logical time of all votes, 0 before any.
    ///
    /// # Errors
    /// The engine's error.
    fn last_time(&self) -> Result<i64, Fault>;

    /// Returns the id of the next round, which no round ever had.
    ///
    /// # Errors
    /// The engine's error, or no id is left.
    fn next_round_id(&self) -> Result<i64, Fault>;

    /// Returns the number of the next vote.
    ///
    /// # Errors
    /// The engine's error, or no number is left.
    fn next_vote_seq(&self) -> Result<i64, Fault>;

    /// Stores a new round.
    ///
    /// # Errors
    /// The engine's error.
    fn add_round(&mut self, round: StoredRound) -> Result<(), Fault>;

    /// Stores a vote with the changes it causes.
    ///
    /// # Errors
    /// The engine's error.
    fn add_vote(&mut self, change: VoteChange) -> Result<(), Fault>;
}

/// Returns the number after `last`.
///
/// # Errors
/// [`Fault::Other`] after 2^63−1.
pub fn number_after(last: i64) -> Result<i64, Fault> {
    last.checked_add(1).ok_or_else(|| Fault::Other("no number is left for another row".to_owned()))
}
