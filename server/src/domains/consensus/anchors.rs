//! Signed time anchors (theta §11): what the most trusted publishers say the time is. Advice for schedules and
//! logs; the finality and round machines never look at it. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use super::canonical::ConsensusSerializationError;
use super::identity::SenderId;
use super::messages::{Message, SIGNATURE, SignedMessage, fields, read};
use super::signing::SignatureBytes;

/// How many publishers are asked.
pub const STA_TOP_N: usize = 7;
/// How many epochs back an anchor counts.
pub const STA_K_EPOCHS: u64 = 10;
/// How far a clock may be from the median, in milliseconds.
pub const STA_DRIFT_MS: u64 = 30_000;

/// What one publisher says the time is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeAnchor {
    /// Who says it.
    pub publisher: SenderId,
    /// The time, in milliseconds since the Unix epoch.
    pub timestamp_ms: u64,
    /// The epoch in which it was said.
    pub epoch: u64,
    /// The publisher's signature.
    pub signature: SignatureBytes,
}

impl Message for TimeAnchor {
    const MSG_TYPE: Option<&'static str> = None;

    fn to_value(&self) -> Value {
        fields::<Self>()
            .integer("epoch", self.epoch)
            .text("publisher", self.publisher.as_str())
            .bytes(SIGNATURE, &self.signature)
            .integer("timestamp_ms", self.timestamp_ms)
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let anchor = Self {
            publisher: reader.parsed("publisher", SenderId::parse)?,
            timestamp_ms: reader.integer("timestamp_ms")?,
            epoch: reader.integer("epoch")?,
            signature: reader.bytes(SIGNATURE)?,
        };
        reader.finish()?;
        Ok(anchor)
    }
}

impl SignedMessage for TimeAnchor {
    fn signer_id(&self) -> SenderId {
        self.publisher
    }

    /// None: an anchor is about the time on the wall.
    fn timestamp_logical(&self) -> u64 {
        0
    }

    fn signature(&self) -> &SignatureBytes {
        &self.signature
    }

    fn set_signature(&mut self, signature: SignatureBytes) {
        self.signature = signature;
    }
}

/// The `top_n` publishers with the highest scores; equal ones by id.
pub fn eligible_publishers(scores: &BTreeMap<SenderId, i64>, top_n: usize) -> Vec<SenderId> {
    let mut ranked: Vec<(SenderId, i64)> = scores.iter().map(|(id, score)| (*id, *score)).collect();
    // Stable, and the map is in the order of ids.
    ranked.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    ranked.into_iter().take(top_n).map(|(id, _)| id).collect()
}

/// The median of what publishers say in epochs `current_epoch - k` to `current_epoch`, each heard once: with the
/// greatest epoch, then the greatest time. Between two middle values it is their mean, rounded down.
pub fn compute_median(anchors: &[TimeAnchor], current_epoch: u64, k: u64) -> Option<u64> {
    let counted = anchors.iter().filter(|anchor| !reject_replay(anchor, current_epoch, k));
    let mut latest: BTreeMap<SenderId, (u64, u64)> = BTreeMap::new();
    for anchor in counted {
        let said = latest.entry(anchor.publisher).or_default();
        *said = (*said).max((anchor.epoch, anchor.timestamp_ms));
    }
    let mut times: Vec<u64> = latest.into_values().map(|(_, stated)| stated).collect();
    times.sort_unstable();
    let upper = *times.get(times.len() / 2)?;
    if times.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *times.get(times.len() / 2 - 1)?;
    Some(lower.midpoint(upper))
}

/// How much a clock is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriftStatus {
    /// Near the median.
    Ok,
    /// Further away than is allowed; whoever keeps it is asked last.
    Deprioritized,
}

impl DriftStatus {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Deprioritized => "deprioritized",
        }
    }
}

/// Holds a clock against the median; being exactly `threshold` milliseconds away is allowed.
pub fn detect_drift(local_ms: u64, median_ms: u64, threshold_ms: u64) -> DriftStatus {
    if local_ms.abs_diff(median_ms) > threshold_ms { DriftStatus::Deprioritized } else { DriftStatus::Ok }
}

/// A publisher whose time stood still or went back from one epoch to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonotonicityFault {
    /// Who.
    pub publisher: SenderId,
    /// The earlier epoch.
    pub prev_epoch: u64,
    /// What was said then.
    pub prev_timestamp_ms: u64,
    /// The later epoch.
    pub next_epoch: u64,
    /// What was said then.
    pub next_timestamp_ms: u64,
}

/// The faults among anchors, by publisher and epoch: each epoch of a publisher is held against the one that it spoke
/// in before. In one epoch it may say what it likes; then the latest of the earlier times and the earliest of the
/// later ones are compared.
pub fn validate_monotonicity(anchors: &[TimeAnchor]) -> Vec<MonotonicityFault> {
    let mut said: Vec<(SenderId, u64, u64)> =
        anchors.iter().map(|anchor| (anchor.publisher, anchor.epoch, anchor.timestamp_ms)).collect();
    said.sort_unstable();
    let neighbours = said.iter().zip(said.iter().skip(1));
    let faulty = neighbours.filter(|(prev, next)| prev.0 == next.0 && prev.1 < next.1 && next.2 <= prev.2);
    let fault = |(prev, next): (&(SenderId, u64, u64), &(SenderId, u64, u64))| MonotonicityFault {
        publisher: prev.0,
        prev_epoch: prev.1,
        prev_timestamp_ms: prev.2,
        next_epoch: next.1,
        next_timestamp_ms: next.2,
    };
    faulty.map(fault).collect()
}

/// Whether an anchor is of an epoch that has not begun, or of one more than `window` epochs ago.
pub fn reject_replay(anchor: &TimeAnchor, current_epoch: u64, window: u64) -> bool {
    current_epoch.checked_sub(anchor.epoch).is_none_or(|age| age > window)
}

/// The time as peers have it, for a clock that is `local_offset_ms` away from the median; `None` outside what
/// integers hold.
pub fn peer_time(median_ms: u64, local_offset_ms: i64) -> Option<u64> {
    median_ms.checked_add_signed(local_offset_ms)
}
