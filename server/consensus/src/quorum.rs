//! How many arbiters make a quorum (consensus#quorum). Pure.

use super::canonical::MAX_INTEGER;

/// Why a committee has no quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuorumError {
    /// The committee is empty or too large to count.
    #[error("n must be >= 1; got {0}")]
    BadN(u64),
}

fn checked(n: u64) -> Result<u64, QuorumError> {
    if (1..=MAX_INTEGER).contains(&n) { Ok(n) } else { Err(QuorumError::BadN(n)) }
}

/// Returns how many of `n` arbiters make a quorum: ⌊2n/3⌋ + 1.
///
/// # Errors
/// [`QuorumError::BadN`].
pub fn quorum_threshold(n: u64) -> Result<u64, QuorumError> {
    // Twice 2^63−1 still fits.
    Ok(2 * checked(n)? / 3 + 1)
}

/// Returns how many of `n` arbiters may be faulty: ⌊(n−1)/3⌋. A quorum and the faulty ones add up to all.
///
/// # Errors
/// [`QuorumError::BadN`].
pub fn max_faulty(n: u64) -> Result<u64, QuorumError> {
    Ok((checked(n)? - 1) / 3)
}
