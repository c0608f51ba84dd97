//! The cost of offences (reputation#penalties): a share of the score, and for the gravest a ban and a scar. Pure.

use super::decay::{clamp_idle, settle};
use super::domain::Domain;
use super::event::{EventError, Penalty, Step, admit};
use super::standing::Standing;
use crate::rules::integer::{BPS_50_PERCENT, BPS_MAX, IntegerError, apply_bps, bps_mul, safe_add, safe_sub};

/// The cost of a minor offence, in basis points of the score.
pub(crate) const DAMAGE_MINOR: i64 = 1_500;
/// The cost of a moderate one.
pub(crate) const DAMAGE_MODERATE: i64 = 3_000;
/// The cost of a severe one.
pub(crate) const DAMAGE_SEVERE: i64 = 5_000;
/// The cost of a critical one.
pub(crate) const DAMAGE_CRITICAL: i64 = 8_000;
/// The cost of fraud.
pub(crate) const DAMAGE_FRAUD: i64 = 10_000;
/// The length of a ban in epochs.
pub(crate) const BAN_DURATION_EPOCHS: i64 = 100;
/// The share of the ceiling that a scar leaves.
pub(crate) const SCAR_KEEP_BPS: i64 = BPS_50_PERCENT;
/// The weight of a penalty in the ledger, which does not depend on a standing.
pub(crate) const PENALTY_WEIGHT_BPS: i64 = BPS_MAX;

/// The severity of an offence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Band {
    /// Costs [`DAMAGE_MINOR`].
    Minor,
    /// Costs [`DAMAGE_MODERATE`].
    Moderate,
    /// Costs [`DAMAGE_SEVERE`].
    Severe,
    /// Costs [`DAMAGE_CRITICAL`] and bans.
    Critical,
    /// Costs everything, bans, and leaves a scar.
    Fraud,
}

/// The five bands, the least severe first.
pub(crate) const SEVERITY_BANDS: [Band; 5] =
    [Band::Minor, Band::Moderate, Band::Severe, Band::Critical, Band::Fraud];

impl Band {
    /// Returns the band as stored, hashed and imported.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Moderate => "moderate",
            Self::Severe => "severe",
            Self::Critical => "critical",
            Self::Fraud => "fraud",
        }
    }

    /// Returns the band with exactly this name; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        SEVERITY_BANDS.into_iter().find(|band| band.as_str() == text)
    }

    /// Returns whether it bans for [`BAN_DURATION_EPOCHS`].
    pub(crate) const fn bans(self) -> bool {
        matches!(self, Self::Critical | Self::Fraud)
    }

    /// Returns whether it leaves a scar by itself.
    pub(crate) const fn scars(self) -> bool {
        matches!(self, Self::Fraud)
    }
}

/// Returns the cost of an offence of `band`, in basis points of the score.
pub(crate) const fn damage_for(band: Band) -> i64 {
    match band {
        Band::Minor => DAMAGE_MINOR,
        Band::Moderate => DAMAGE_MODERATE,
        Band::Severe => DAMAGE_SEVERE,
        Band::Critical => DAMAGE_CRITICAL,
        Band::Fraud => DAMAGE_FRAUD,
    }
}

/// A row of `reputation_history` before it has an id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields of reputation#standing, under their names.
pub(crate) struct HistoryEvent {
    pub node_id: String,
    pub domain: Domain,
    pub epoch: i64,
    pub delta: i64,
    pub reason: String,
    pub event_id: String,
}

/// The result of a penalty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Penalised {
    /// The standing after it.
    pub row: Standing,
    /// Its row of the history; its delta is never above 0.
    pub history_event: HistoryEvent,
}

/// Applies a penalty to `row`, whose decay was settled before, see [`penalty_step`]. `scar` requests a scar even if
/// the band leaves none by itself.
///
/// # Errors
/// The epoch is so late that the ban's end exceeds 64 bits; otherwise only for a row that breaks an invariant.
pub(crate) fn apply_penalty(
    row: &Standing,
    band: Band,
    current_epoch: i64,
    event_id: &str,
    reason: &str,
    scar: bool,
) -> Result<Penalised, IntegerError> {
    let damaged = apply_bps(row.score, damage_for(band))?;
    let scar_bps = if scar || band.scars() { scarred(row.scar_bps)? } else { row.scar_bps };
    let score = damaged.min(safe_sub(BPS_MAX, scar_bps)?);
    let ban_until_epoch = match band.bans() {
        // A later ban never shortens an earlier one.
        true => Some(row.ban_until_epoch.unwrap_or(0).max(safe_add(current_epoch, BAN_DURATION_EPOCHS)?)),
        false => row.ban_until_epoch,
    };
    let history_event = HistoryEvent {
        node_id: row.node_id.clone(),
        domain: row.domain,
        epoch: current_epoch,
        delta: safe_sub(score, row.score)?,
        reason: reason.to_owned(),
        event_id: event_id.to_owned(),
    };
    let last_activity_epoch = row.last_activity_epoch.max(current_epoch);
    let row = Standing { score, scar_bps, ban_until_epoch, last_activity_epoch, ..row.clone() };
    Ok(Penalised { row, history_event })
}

/// Returns the scar after one more: the current ceiling is halved, rounded down.
///
/// # Errors
/// Only for a scar far outside 0..=10000.
pub(crate) fn scarred(scar_bps: i64) -> Result<i64, IntegerError> {
    safe_sub(BPS_MAX, bps_mul(safe_sub(BPS_MAX, scar_bps)?, SCAR_KEEP_BPS)?)
}

/// Returns the reason under which a penalty is stored.
pub(crate) fn stored_reason(band: Band, reason: &str) -> String {
    format!("penalty:{}:{reason}", band.as_str())
}

/// Returns the reported reason of a penalty of `band` from the stored one; `None` if that belongs to another band, or
/// to no penalty.
pub(crate) fn reported_reason(band: Band, stored: &str) -> Option<&str> {
    stored.strip_prefix("penalty:")?.strip_prefix(band.as_str())?.strip_prefix(':')
}

/// Computes a penalty as the ledger records it. Idle epochs are settled first, without an epoch of grace, so that no
/// offence raises the visible score. A node without a row gets one, so that ban and scar apply. Pure: the writer
/// checks whether the penalty was recorded before.
///
/// # Errors
/// See [`EventError`].
pub(crate) fn penalty_step(penalty: &Penalty<'_>, row: Option<&Standing>) -> Result<Step, EventError> {
    admit(penalty.node_id, penalty.domain, penalty.epoch, row)?;
    let new = || Standing::unknown(penalty.node_id, penalty.domain, penalty.epoch);
    let before = row.cloned().unwrap_or_else(new);
    let idle_epochs = clamp_idle(penalty.epoch.saturating_sub(before.last_activity_epoch));
    let score_settled = settle(before.score, penalty.domain, idle_epochs)?;
    let (score_before, scar_before) = (before.score, before.scar_bps);
    let settled = Standing { score: score_settled, ..before };
    let Penalty { band, epoch, event_id, reason, scar, .. } = *penalty;
    let Penalised { row, history_event } = apply_penalty(&settled, band, epoch, event_id, reason, scar)?;
    Ok(Step {
        row,
        delta: history_event.delta,
        weight_bps: PENALTY_WEIGHT_BPS,
        idle_epochs,
        score_before,
        score_settled,
        scar_before,
    })
}

/// An event that was already penalised in this band.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("DoublePenaltyError: event {event_id} already penalised as {}", band.as_str())]
pub struct DoublePenaltyError {
    /// The event.
    pub event_id: String,
    /// The band.
    pub band: Band,
}
