//! The lifetime view of a node's events (reputation#not-built): all acknowledged events, without decay. Live
//! standings come from [`super::gain`] instead. Pure.

use super::domain::Domain;
use crate::rules::integer::{BPS_MAX, IntegerError, bps, bps_mul, safe_add};

/// An acknowledged event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckedEvent {
    /// Its epoch.
    pub epoch: i64,
    /// Its place among all events.
    pub id: i64,
    /// Its value in basis points; negative for a loss.
    pub delta: i64,
    /// The acknowledging node.
    pub acker_id: String,
}

/// Returns the clamped sum of all events, each weighed by its acknowledger's standing. `ack_lookup` returns that
/// standing and `scar_lookup` the node's scar, both in basis points. A standing is clamped to 0..=10000.
///
/// # Errors
/// An overflow, or a scar outside 0..=10000.
pub fn compute_score(
    node_id: &str,
    domain: Domain,
    events: &[AckedEvent],
    ack_lookup: impl Fn(&str, Domain) -> i64,
    scar_lookup: impl Fn(&str, Domain) -> i64,
) -> Result<i64, IntegerError> {
    let mut ordered: Vec<&AckedEvent> = events.iter().collect();
    ordered.sort_by_key(|event| (event.epoch, event.id));
    let sum = ordered.into_iter().try_fold(0, |sum, event| {
        let weight = ack_lookup(&event.acker_id, domain).clamp(0, BPS_MAX);
        safe_add(sum, bps_mul(event.delta, weight)?)
    })?;
    Ok(sum.max(0).min(BPS_MAX - bps(scar_lookup(node_id, domain))?))
}
