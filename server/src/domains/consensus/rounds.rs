//! Where rounds are kept: in tables, or in memory above tables that must not be written.

use colibri_runtime::handler::Fault;

use colibri_consensus::stored::{Mark, StoredRound, VoteChange};

/// A place for rounds. What it answers holds for the running transaction.
pub trait Rounds {
    /// The state of a round's rows; none when there is no such round.
    ///
    /// # Errors
    /// The engine's.
    fn mark(&self, round_id: i64) -> Result<Option<Mark>, Fault>;

    /// A round with everything that belongs to it.
    ///
    /// # Errors
    /// The engine's.
    fn load(&self, round_id: i64) -> Result<Option<StoredRound>, Fault>;

    /// The root of the newest round at QUORUM or above.
    ///
    /// # Errors
    /// The engine's.
    fn last_agreed_root(&self) -> Result<Option<Vec<u8>>, Fault>;

    /// The largest logical time of all votes, 0 before any.
    ///
    /// # Errors
    /// The engine's.
    fn last_time(&self) -> Result<i64, Fault>;

    /// The id of the next round: no round ever had it.
    ///
    /// # Errors
    /// The engine's, or that none is left.
    fn next_round_id(&self) -> Result<i64, Fault>;

    /// The number of the next vote.
    ///
    /// # Errors
    /// The engine's, or that none is left.
    fn next_vote_seq(&self) -> Result<i64, Fault>;

    /// Keeps a new round.
    ///
    /// # Errors
    /// The engine's.
    fn add_round(&mut self, round: StoredRound) -> Result<(), Fault>;

    /// Keeps a vote with what it changes.
    ///
    /// # Errors
    /// The engine's.
    fn add_vote(&mut self, change: VoteChange) -> Result<(), Fault>;
}

/// The number after `last`.
///
/// # Errors
/// [`Fault::Other`] after 2^63−1.
pub fn number_after(last: i64) -> Result<i64, Fault> {
    last.checked_add(1).ok_or_else(|| Fault::Other("no number is left for another row".to_owned()))
}
