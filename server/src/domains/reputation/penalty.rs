//! What offences cost (reputation#penalties): a share of the score, and for the gravest a ban and a scar. Pure.

use super::decay::{clamp_idle, settle};
use super::domain::Domain;
use super::event::{EventError, Penalty, Step, admit};
use super::standing::Standing;
use crate::rules::integer::{BPS_50_PERCENT, BPS_MAX, IntegerError, apply_bps, bps_mul, safe_add, safe_sub};

/// What a minor offence costs, in basis points of the score.
pub const DAMAGE_MINOR: i64 = 1_500;
/// The same for a moderate one.
pub const DAMAGE_MODERATE: i64 = 3_000;
/// The same for a severe one.
pub const DAMAGE_SEVERE: i64 = 5_000;
/// The same for a critical one.
pub const DAMAGE_CRITICAL: i64 = 8_000;
/// The same for fraud.
pub const DAMAGE_FRAUD: i64 = 10_000;
/// How many epochs a ban lasts.
pub const BAN_DURATION_EPOCHS: i64 = 100;
/// What share of the ceiling a scar leaves.
pub const SCAR_KEEP_BPS: i64 = BPS_50_PERCENT;
/// What a penalty weighs in the ledger: it depends on nobody's standing.
pub const PENALTY_WEIGHT_BPS: i64 = BPS_MAX;

/// How severe an offence is.
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
pub const SEVERITY_BANDS: [Band; 5] =
    [Band::Minor, Band::Moderate, Band::Severe, Band::Critical, Band::Fraud];

impl Band {
    /// The band as it is stored, hashed and imported.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Moderate => "moderate",
            Self::Severe => "severe",
            Self::Critical => "critical",
            Self::Fraud => "fraud",
        }
    }

    /// The band that a text names exactly; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        SEVERITY_BANDS.into_iter().find(|band| band.as_str() == text)
    }

    /// Whether it bans for [`BAN_DURATION_EPOCHS`].
    pub const fn bans(self) -> bool {
        matches!(self, Self::Critical | Self::Fraud)
    }

    /// Whether it leaves a scar unasked.
    pub const fn scars(self) -> bool {
        matches!(self, Self::Fraud)
    }
}

/// What an offence of `band` costs, in basis points of the score.
pub const fn damage_for(band: Band) -> i64 {
    match band {
        Band::Minor => DAMAGE_MINOR,
        Band::Moderate => DAMAGE_MODERATE,
        Band::Severe => DAMAGE_SEVERE,
        Band::Critical => DAMAGE_CRITICAL,
        Band::Fraud => DAMAGE_FRAUD,
    }
}

/// The offences that have a name, and so a band (reputation#penalties).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Offence {
    /// A task left without a word.
    SilentAbandonment,
    /// An obligation's deadline missed.
    MissedDeadline,
    /// A dispute about quality lost.
    LostQualityDispute,
    /// An arbitration decision overturned.
    OverturnedArbitration,
    /// A debt not paid.
    NonPayment,
    /// Two signed votes that contradict each other.
    Equivocation,
    /// Fraud, proven.
    ProvenFraud,
}

impl Offence {
    /// Its band.
    pub const fn band(self) -> Band {
        match self {
            Self::SilentAbandonment | Self::MissedDeadline => Band::Minor,
            Self::LostQualityDispute | Self::OverturnedArbitration => Band::Moderate,
            Self::NonPayment => Band::Severe,
            Self::Equivocation => Band::Critical,
            Self::ProvenFraud => Band::Fraud,
        }
    }
}

/// A row of `reputation_history` before it has an id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields of reputation#standing, under their names.
pub struct HistoryEvent {
    pub node_id: String,
    pub domain: Domain,
    pub epoch: i64,
    pub delta: i64,
    pub reason: String,
    pub event_id: String,
}

/// What a penalty leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Penalised {
    /// The standing after it.
    pub row: Standing,
    /// What history says of it; its delta is never above 0.
    pub history_event: HistoryEvent,
}

/// Takes a penalty from `row` as it stands: decay is taken off before, see [`penalty_step`]. `scar` asks for a scar
/// where the band leaves none by itself.
///
/// # Errors
/// An epoch so late that a ban's end is beyond 64 bits; otherwise only for a row that breaks an invariant.
pub fn apply_penalty(
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

/// The scar after one more: the ceiling in force is halved, rounded down.
///
/// # Errors
/// Only for a scar far outside 0..=10000.
pub fn scarred(scar_bps: i64) -> Result<i64, IntegerError> {
    safe_sub(BPS_MAX, bps_mul(safe_sub(BPS_MAX, scar_bps)?, SCAR_KEEP_BPS)?)
}

/// The reason under which a penalty is stored.
pub fn stored_reason(band: Band, reason: &str) -> String {
    format!("penalty:{}:{reason}", band.as_str())
}

/// The reason that was given for a penalty of `band`, from the stored one; `None` if that is another band's, or no
/// penalty's.
pub fn reported_reason(band: Band, stored: &str) -> Option<&str> {
    stored.strip_prefix("penalty:")?.strip_prefix(band.as_str())?.strip_prefix(':')
}

/// Takes a penalty as the ledger records it: idle epochs are settled first, with no epoch of grace, so that no offence
/// raises what is visible. A node without a row gets one, so that ban and scar bind it. Pure: whether it was recorded
/// before is the writer's to know.
///
/// # Errors
/// See [`EventError`].
pub fn penalty_step(penalty: &Penalty<'_>, row: Option<&Standing>) -> Result<Step, EventError> {
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

/// A row of the history as [`is_double_penalty`] reads it: rows that the ledger does not know have no band of their
/// own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastEvent<'a> {
    /// The row's event.
    pub event_id: &'a str,
    /// The ledger's band.
    pub band: Option<Band>,
    /// The row's reason, which names the band if the ledger does not.
    pub reason: &'a str,
}

/// Whether `history`, the rows of one node and domain, holds a penalty of this band for this event. The same event in
/// another band is not punished twice.
pub fn is_double_penalty(event_id: &str, band: Band, history: &[PastEvent<'_>]) -> bool {
    history.iter().any(|past| past.event_id == event_id && past_band(past) == Some(band))
}

fn past_band(past: &PastEvent<'_>) -> Option<Band> {
    let named = || Band::parse(past.reason.strip_prefix("penalty:")?.split_once(':')?.0);
    past.band.or_else(named)
}

/// An event that was punished in this band already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("DoublePenaltyError: event {event_id} already penalised as {}", band.as_str())]
pub struct DoublePenaltyError {
    /// The event.
    pub event_id: String,
    /// The band.
    pub band: Band,
}
