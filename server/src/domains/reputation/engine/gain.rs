//! The effect of an acknowledged event (reputation#gains). Pure: the writer checks whether it was recorded before.
//!
//! Idle epochs are settled first. Otherwise any event would lift a long-idle node back to its stored score, because
//! every event restarts the decay timer.

use super::decay::{clamp_idle, decayed_score, settle};
use super::event::{Acker, EventError, Gain, Step, admit, check_nominal};
use super::standing::Standing;
use crate::rules::integer::{BPS_MAX, IntegerError, bps_mul, safe_add, safe_sub};

/// The least weight of a peer's acknowledgement. Without it no first acknowledgement would have any weight.
pub(crate) const ACK_FLOOR_BPS: i64 = 1_000;
/// The greatest weight of an acknowledgement.
pub(crate) const ACK_MAX_BPS: i64 = BPS_MAX;
/// Weak evidence alone lifts no score above this one.
pub(crate) const WEAK_CEILING_BPS: i64 = 5_000;
/// The most that gains change a score within an epoch, in each direction.
pub(crate) const GAIN_CAP_PER_EPOCH_BPS: i64 = 1_000;

/// The sums of changes that gains made to a node's score in one domain and epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EpochSums {
    /// The sum of the deltas above 0.
    pub gained: i64,
    /// The absolute sum of the deltas below 0.
    pub lost: i64,
}

impl EpochSums {
    /// Returns the sums with one more recorded delta.
    ///
    /// # Errors
    /// An overflow, which recorded deltas cannot reach.
    pub fn with(self, delta: i64) -> Result<Self, IntegerError> {
        Ok(Self { gained: safe_add(self.gained, delta.max(0))?, lost: safe_sub(self.lost, delta.min(0))? })
    }
}

/// Why nothing is recorded. This is not an error; the decay timer simply does not restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ignored {
    /// The node vouches for itself.
    SelfAck,
    /// The acknowledging node is banned in the domain.
    BannedAcker,
    /// A loss acknowledged by a node whose standing is too low.
    LowWeight,
}

impl Ignored {
    /// Returns the outcome's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SelfAck => "ignored_self_ack",
            Self::BannedAcker => "ignored_banned_acker",
            Self::LowWeight => "ignored_low_weight",
        }
    }
}

/// The result of weighing a gain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GainOutcome {
    /// The writer must record these numbers.
    Recorded(Step),
    /// The writer must store nothing.
    Ignored(Ignored),
}

/// The weight of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// The share of the nominal delta that counts.
    pub bps: i64,
    /// Whether [`WEAK_CEILING_BPS`] applies.
    pub weak: bool,
}

/// Computes a gain. `row` is the node's stored row and `acker_row` the acknowledging node's in the same domain.
/// `sums` are the changes that gains made in this epoch so far.
///
/// # Errors
/// See [`EventError`].
pub fn gain_step(
    gain: &Gain<'_>,
    row: Option<&Standing>,
    acker_row: Option<&Standing>,
    sums: EpochSums,
) -> Result<GainOutcome, EventError> {
    check_nominal(gain.nominal_delta)?;
    admit(gain.node_id, gain.domain, gain.epoch, row)?;
    Ok(match weigh(gain, acker_row)? {
        Ok(weight) => GainOutcome::Recorded(weighed_step(gain, row, weight, sums)?),
        Err(ignored) => GainOutcome::Ignored(ignored),
    })
}

/// Returns the weight of the acknowledgement of `gain`, or why it is ignored.
///
/// # Errors
/// Only for an acknowledger's score outside 0..=10000.
pub fn weigh(gain: &Gain<'_>, acker_row: Option<&Standing>) -> Result<Result<Weight, Ignored>, IntegerError> {
    let acker_id = match gain.acker {
        Acker::System { weight_bps } => return Ok(Ok(Weight { bps: weight_bps, weak: true })),
        Acker::Peer(id) => id,
    };
    if acker_id == gain.node_id {
        return Ok(Err(Ignored::SelfAck));
    }
    if acker_row.is_some_and(|row| row.banned(gain.epoch)) {
        return Ok(Err(Ignored::BannedAcker));
    }
    let standing = acker_row.map_or(Ok(0), |row| decayed_score(row, gain.epoch))?;
    Ok(match standing {
        ACK_FLOOR_BPS.. => Ok(Weight { bps: standing.min(ACK_MAX_BPS), weak: false }),
        _ if gain.nominal_delta > 0 => Ok(Weight { bps: ACK_FLOOR_BPS, weak: true }),
        _ => Err(Ignored::LowWeight),
    })
}

/// Computes the step of a gain whose weight is known.
///
/// # Errors
/// Only for a row that breaks an invariant.
pub(crate) fn weighed_step(
    gain: &Gain<'_>,
    row: Option<&Standing>,
    weight: Weight,
    sums: EpochSums,
) -> Result<Step, IntegerError> {
    let new = || Standing::unknown(gain.node_id, gain.domain, gain.epoch);
    let before = row.cloned().unwrap_or_else(new);
    // Neither activity's epoch counts as idle, so a node that is active in each epoch never decays.
    let idle_epochs = clamp_idle(gain.epoch.saturating_sub(before.last_activity_epoch).saturating_sub(1));
    let score_settled = settle(before.score, gain.domain, idle_epochs)?;
    let change = capped(bps_mul(gain.nominal_delta, weight.bps)?, sums)?;
    let bound = match weight.weak && change > 0 {
        true => before.ceiling().min(score_settled.max(WEAK_CEILING_BPS)),
        false => before.ceiling(),
    };
    let score = safe_add(score_settled, change)?.min(bound).max(0);
    Ok(Step {
        delta: safe_sub(score, score_settled)?,
        weight_bps: weight.bps,
        idle_epochs,
        score_before: before.score,
        score_settled,
        scar_before: before.scar_bps,
        row: Standing { score, last_activity_epoch: gain.epoch, ..before },
    })
}

/// Returns the part of `change` that the epoch's cap allows.
fn capped(change: i64, sums: EpochSums) -> Result<i64, IntegerError> {
    Ok(match change {
        1.. => change.min(safe_sub(GAIN_CAP_PER_EPOCH_BPS, sums.gained)?.max(0)),
        _ => change.max(safe_sub(sums.lost, GAIN_CAP_PER_EPOCH_BPS)?.min(0)),
    })
}
