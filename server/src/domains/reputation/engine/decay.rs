//! Decay through inactivity (reputation#decay): a share of the score for each idle epoch, rounded in each. A read
//! never stores it. Pure.

use super::domain::Domain;
use super::standing::Standing;
use crate::rules::integer::{IntegerError, MAX_DECAY_EPOCHS, decay};

/// The loss per idle epoch in the domain execution, in basis points.
pub(crate) const DECAY_EXECUTION: i64 = 500;
/// The loss per idle epoch in commissioning.
pub(crate) const DECAY_COMMISSIONING: i64 = 300;
/// The loss per idle epoch in arbitration.
pub(crate) const DECAY_ARBITRATION: i64 = 1_000;
/// The loss per idle epoch in governance.
pub(crate) const DECAY_GOVERNANCE: i64 = 200;
/// The loss per idle epoch in social.
pub(crate) const DECAY_SOCIAL: i64 = 100;

/// Returns the loss per idle epoch, in basis points of the score.
pub(crate) const fn rate_for(domain: Domain) -> i64 {
    match domain {
        Domain::Execution => DECAY_EXECUTION,
        Domain::Commissioning => DECAY_COMMISSIONING,
        Domain::Arbitration => DECAY_ARBITRATION,
        Domain::Governance => DECAY_GOVERNANCE,
        Domain::Social => DECAY_SOCIAL,
    }
}

/// Returns the standing at `current_epoch`: a copy that differs only in its score. An epoch before the last activity
/// changes nothing.
///
/// # Errors
/// [`IntegerError::EpochCeiling`] after more than 10000 idle epochs; [`decayed`] has no such limit.
pub fn apply_decay(row: &Standing, current_epoch: i64) -> Result<Standing, IntegerError> {
    let inactive = current_epoch.saturating_sub(row.last_activity_epoch).max(0);
    Ok(Standing { score: decay(row.score, rate_for(row.domain), inactive)?, ..row.clone() })
}

/// Does the same as [`apply_decay`] for any epoch. A score settles within 516 idle epochs (reputation#decay), so a
/// limit of [`MAX_DECAY_EPOCHS`] keeps the result exact.
///
/// # Errors
/// Only for a score outside 0..=10000.
pub fn decayed(row: &Standing, current_epoch: i64) -> Result<Standing, IntegerError> {
    apply_decay(row, current_epoch.min(row.last_activity_epoch.saturating_add(MAX_DECAY_EPOCHS)))
}

/// Returns only the score of [`decayed`], for walks over many rows.
///
/// # Errors
/// As [`decayed`].
pub(crate) fn decayed_score(row: &Standing, current_epoch: i64) -> Result<i64, IntegerError> {
    settle(row.score, row.domain, current_epoch.saturating_sub(row.last_activity_epoch))
}

/// Returns a score after `idle_epochs` in `domain`. Counts outside 0..=[`MAX_DECAY_EPOCHS`] are clamped, which
/// changes no result.
///
/// # Errors
/// As [`decayed`].
pub fn settle(score: i64, domain: Domain, idle_epochs: i64) -> Result<i64, IntegerError> {
    decay(score, rate_for(domain), clamp_idle(idle_epochs))
}

/// Converts a difference of epochs into a number of idle ones: 0 to [`MAX_DECAY_EPOCHS`].
pub(crate) const fn clamp_idle(epochs: i64) -> i64 {
    if epochs < 0 {
        0
    } else if epochs > MAX_DECAY_EPOCHS {
        MAX_DECAY_EPOCHS
    } else {
        epochs
    }
}
