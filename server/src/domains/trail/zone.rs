//! The zones of retention: a record's position in its chain decides where its content is stored.

/// The last position, counted from a task's newest record, whose content stays in its row.
pub const HOT_MAX_POSITION: i64 = 100;

/// The last position whose content is kept.
pub const WARM_MAX_POSITION: i64 = 1000;

/// The place of a record's content. Later zones compare greater, and a record never returns to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RetentionZone {
    /// In its row.
    Hot,
    /// Packed, in its row, with its digest.
    Warm,
    /// Pruned to its digest.
    Cold,
}

/// The zones, in the order in which a record passes through them.
pub const RETENTION_ZONES: [RetentionZone; 3] =
    [RetentionZone::Hot, RetentionZone::Warm, RetentionZone::Cold];

impl RetentionZone {
    /// Returns the zone as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }

    /// Returns the zone of a stored row. A row that was never archived names none and is hot. `None` if it names an
    /// unknown zone.
    pub fn of(stored: Option<&str>) -> Option<Self> {
        match stored {
            None => Some(Self::Hot),
            Some(text) => RETENTION_ZONES.into_iter().find(|zone| zone.as_str() == text),
        }
    }
}

/// A position before that of the newest record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a position in a chain is counted from 1, the newest record; got {0}")]
pub struct NoPosition(pub i64);

/// Returns the zone of a position; 1 is a task's newest record.
///
/// # Errors
/// [`NoPosition`] below 1.
pub fn zone_for_position(position: i64) -> Result<RetentionZone, NoPosition> {
    match position {
        ..=0 => Err(NoPosition(position)),
        1..=HOT_MAX_POSITION => Ok(RetentionZone::Hot),
        _ if position <= WARM_MAX_POSITION => Ok(RetentionZone::Warm),
        _ => Ok(RetentionZone::Cold),
    }
}
