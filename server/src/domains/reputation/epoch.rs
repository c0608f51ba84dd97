//! The logical clock (reputation#epochs). Below the writer an epoch is a parameter; this module derives it from the
//! wall clock once per event.

use colibri_runtime::handler::{Failure, Fault};

use super::store;
use crate::settings::keys::EPOCH_SECONDS;
use colibri_store::db::Db;

/// Returns the epoch of a time in milliseconds since the Unix epoch; earlier times belong to epoch 0.
pub(crate) fn epoch_at(now_ms: i64, epoch_seconds: u32) -> i64 {
    now_ms.div_euclid(1000).div_euclid(i64::from(epoch_seconds.max(1))).max(0)
}

/// Returns the length of an epoch in seconds, which the first ledger entry fixes; `None` before that.
///
/// # Errors
/// [`Fault::Storage`].
pub fn fixed_length(db: &Db) -> Result<Option<u32>, Fault> {
    store::epoch_seconds(db)
}

/// Returns the present epoch: the clock's, or the ledger's highest one if that is higher, because reputation never
/// goes back. Until a length is fixed, `configured_seconds` applies.
///
/// # Errors
/// [`Fault::Storage`].
pub fn present_epoch(db: &Db, configured_seconds: u32, now_ms: i64) -> Result<i64, Fault> {
    let seconds = fixed_length(db)?.unwrap_or(configured_seconds);
    let highest = store::highest_epoch(db)?;
    Ok(highest.map_or(0, |epoch| epoch.max(0)).max(epoch_at(now_ms, seconds)))
}

/// How far beyond the present epoch a read may ask: the clocks of two machines may stand on either side of a change,
/// and so may their ledgers.
pub(crate) const MOST_AHEAD: i64 = 2;

/// A read asked for an epoch too far beyond the present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EpochFuture {
    /// The epoch that was asked for.
    pub current_epoch: i64,
    /// The present epoch.
    pub present_epoch: i64,
}

/// Returns the epoch to which a read decays: the one that was asked for, or the present one.
///
/// # Errors
/// [`EpochFuture`], since a typing error would otherwise read as a standing that has decayed to nothing; storage faults.
pub(crate) fn epoch_of_read(
    db: &Db,
    asked: Option<i64>,
    configured_seconds: u32,
    now_ms: i64,
) -> Result<i64, Failure<EpochFuture>> {
    let present_epoch = present_epoch(db, configured_seconds, now_ms)?;
    match asked {
        None => Ok(present_epoch),
        Some(current_epoch) if current_epoch > present_epoch.saturating_add(MOST_AHEAD) => {
            Err(Failure::Domain(EpochFuture { current_epoch, present_epoch }))
        }
        Some(current_epoch) => Ok(current_epoch),
    }
}

/// Returns a warning for the operator if the configured length differs from the fixed one. The setting is then
/// ignored, because epochs of two lengths cannot be compared.
///
/// # Errors
/// [`Fault::Storage`].
pub(crate) fn length_warning(db: &Db, configured_seconds: u32) -> Result<Option<String>, Fault> {
    let fixed = fixed_length(db)?.filter(|fixed| *fixed != configured_seconds);
    Ok(fixed.map(|fixed| {
        let name = EPOCH_SECONDS.name;
        format!(
            "{name}={configured_seconds} is ignored: the reputations of this database count epochs of {fixed} seconds \
             since their first event; set {name} to {fixed}"
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::epoch_at;

    #[test]
    fn an_epoch_is_a_whole_number_of_lengths_since_1970() {
        assert_eq!(epoch_at(0, 86_400), 0);
        assert_eq!(epoch_at(86_399_999, 86_400), 0);
        assert_eq!(epoch_at(86_400_000, 86_400), 1);
        assert_eq!(epoch_at(1_795_305_600_000, 86_400), 20_779);
        assert_eq!(epoch_at(1_999, 1), 1);
        assert_eq!(epoch_at(-1, 1), 0);
        assert_eq!(epoch_at(i64::MIN, 31_536_000), 0);
        assert_eq!(epoch_at(i64::MAX, 1), i64::MAX / 1000);
    }
}
