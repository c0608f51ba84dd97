//! Whether the configured length of an epoch is the one that the database has fixed.

use super::Finding;
use crate::domains::reputation::epoch::length_warning;
use crate::settings::keys::EPOCH_SECONDS;
use colibri_store::Db;

/// Warns of a configured length that is ignored. A database that cannot be read says so elsewhere.
pub(crate) fn check(db: &Db, configured: u32) -> Option<Finding> {
    let warning = length_warning(db, configured).ok().flatten()?;
    let advice = format!(
        "set {} to the length of the database; the server goes on with that length",
        EPOCH_SECONDS.name
    );
    Some(Finding::warn("reputation", warning, advice))
}
