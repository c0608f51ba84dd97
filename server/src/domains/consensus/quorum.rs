//! How many are enough (theta §5). Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::canonical::MAX_INTEGER;
use super::identity::SenderId;
use super::messages::{Vote, VoteGroup, VoteType};

/// Why there is no quorum to speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuorumError {
    /// A committee of nobody, or of more than integers may count.
    #[error("n must be >= 1; got {0}")]
    BadN(u64),
}

fn checked(n: u64) -> Result<u64, QuorumError> {
    if (1..=MAX_INTEGER).contains(&n) { Ok(n) } else { Err(QuorumError::BadN(n)) }
}

/// How many of `n` arbiters make a quorum: ⌊2n/3⌋ + 1.
///
/// # Errors
/// [`QuorumError::BadN`].
pub fn quorum_threshold(n: u64) -> Result<u64, QuorumError> {
    // Twice 2^63−1 still fits.
    Ok(2 * checked(n)? / 3 + 1)
}

/// How many of `n` arbiters may be faulty: ⌊(n−1)/3⌋. Together with a quorum they are all.
///
/// # Errors
/// [`QuorumError::BadN`].
pub fn max_faulty(n: u64) -> Result<u64, QuorumError> {
    Ok((checked(n)? - 1) / 3)
}

/// Whether some tuple has ACCEPT votes of a quorum of distinct committee members.
///
/// # Errors
/// [`QuorumError::BadN`] for an empty committee.
pub fn has_quorum(votes: &[Vote], committee: &BTreeSet<SenderId>) -> Result<bool, QuorumError> {
    let threshold = quorum_threshold(committee.len() as u64)?;
    let mut accepting: BTreeMap<VoteGroup, BTreeSet<SenderId>> = BTreeMap::new();
    for vote in votes {
        if vote.vote_type == VoteType::Accept && committee.contains(&vote.sender_id) {
            accepting.entry(vote.group()).or_default().insert(vote.sender_id);
        }
    }
    Ok(accepting.values().any(|senders| senders.len() as u64 >= threshold))
}

/// Who is in both sets.
pub fn intersect(a: &BTreeSet<SenderId>, b: &BTreeSet<SenderId>) -> BTreeSet<SenderId> {
    a.intersection(b).copied().collect()
}

/// All pairs of different tuples that one arbiter has signed in one round, of each tuple the vote that came first.
/// A repeated tuple, or another vote type on the same one, is no double vote.
pub fn detect_double_vote(arbiter_id: &SenderId, round_id: u64, votes: &[Vote]) -> Vec<(Vote, Vote)> {
    let mut firsts: Vec<&Vote> = Vec::new();
    for vote in votes.iter().filter(|vote| vote.sender_id == *arbiter_id && vote.round_id == round_id) {
        if firsts.iter().all(|first| first.group() != vote.group()) {
            firsts.push(vote);
        }
    }
    let mut pairs = Vec::new();
    for (index, &first) in firsts.iter().enumerate() {
        pairs.extend(firsts.iter().skip(index + 1).map(|&later| (first.clone(), later.clone())));
    }
    pairs
}
