//! What a standing allows (reputation#gates): advice, which nothing here enforces. Pure.
//!
//! All functions but [`evaluate`] take rows from which decay was taken off already.

use super::decay::decayed;
use super::domain::{DOMAINS, Domain};
use super::standing::Standing;
use crate::rules::integer::{BPS_100_PERCENT, IntegerError, bps_mul, ilog2, isqrt, safe_div, safe_mul};

/// No node gets more tasks at once.
pub const PARALLEL_MAX: i64 = 20;
/// Stakes stop growing below this score.
pub const STAKE_FLOOR: i64 = 1_000;
/// What arbitrating needs in the domain arbitration.
pub const ARBITRATE_ARBITRATION_MIN: i64 = 5_000;
/// What arbitrating needs in the domain execution.
pub const ARBITRATE_EXECUTION_MIN: i64 = 3_000;
/// What governing needs in the domain governance.
pub const GOVERN_GOVERNANCE_MIN: i64 = 4_000;

/// How many tasks at once: the score's square root, at most [`PARALLEL_MAX`].
///
/// # Errors
/// A negative score.
pub fn max_parallel_tasks(execution: &Standing) -> Result<i64, IntegerError> {
    Ok(isqrt(execution.score)?.min(PARALLEL_MAX))
}

/// What comes on top of `base_rate` calls: as many ten-thousandths of it as the score has binary digits, less one.
///
/// # Errors
/// A negative base rate.
pub fn rate_limit_bonus(execution: &Standing, base_rate: i64) -> Result<i64, IntegerError> {
    not_negative("rate_limit_bonus", "base_rate", base_rate)?;
    bps_mul(base_rate, ilog2(execution.score.max(1))?)
}

/// The stake to post where `required_stake` is asked of a node at 10000: never less than that, at most ten times it.
///
/// # Errors
/// A negative stake, or one above a ten-thousandth of what 64 bits hold.
pub fn stake_discount(required_stake: i64, execution: &Standing) -> Result<i64, IntegerError> {
    not_negative("stake_discount", "required_stake", required_stake)?;
    safe_div(safe_mul(required_stake, BPS_100_PERCENT)?, execution.score.max(STAKE_FLOOR))
}

/// Whether the node may arbitrate. A ban in either domain closes the gate.
pub fn can_arbitrate(arbitration: &Standing, execution: &Standing, epoch: i64) -> bool {
    arbitration.score >= ARBITRATE_ARBITRATION_MIN
        && execution.score >= ARBITRATE_EXECUTION_MIN
        && !arbitration.banned(epoch)
        && !execution.banned(epoch)
}

/// Whether the node may govern.
pub fn can_govern(governance: &Standing, epoch: i64) -> bool {
    governance.score >= GOVERN_GOVERNANCE_MIN && !governance.banned(epoch)
}

fn not_negative(operation: &'static str, argument: &'static str, value: i64) -> Result<(), IntegerError> {
    if value < 0 { Err(IntegerError::Underflow { operation, argument, value }) } else { Ok(()) }
}

/// All gates of a node at one epoch (reputation#gates).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gates {
    /// [`max_parallel_tasks`].
    pub max_parallel_tasks: i64,
    /// [`rate_limit_bonus`] for a base rate of 10000.
    pub rate_limit_bonus: i64,
    /// [`stake_discount`] for a stake of 10000.
    pub stake_discount: i64,
    /// [`can_arbitrate`].
    pub can_arbitrate: bool,
    /// [`can_govern`].
    pub can_govern: bool,
    /// All five domains, in canonical order.
    pub domains: [DomainGate; 5],
}

/// A node's standing in one domain, as the gates saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainGate {
    /// Whether there is a row.
    pub present: bool,
    /// The row with decay taken off, or what stands for it.
    pub row: Standing,
    /// Whether it is banned at the epoch asked about.
    pub banned: bool,
}

/// The gates of `node_id` at `epoch`. `rows` are its stored rows, in any order; one that is not there counts as unknown.
///
/// # Errors
/// Only for a score outside 0..=10000.
pub fn evaluate(node_id: &str, rows: &[Standing], epoch: i64) -> Result<Gates, IntegerError> {
    let state = |domain: Domain| {
        let stored = rows.iter().find(|row| row.domain == domain);
        let row = match stored {
            Some(row) => decayed(row, epoch)?,
            None => Standing::unknown(node_id, domain, epoch),
        };
        Ok(DomainGate { present: stored.is_some(), banned: row.banned(epoch), row })
    };
    let [execution, commissioning, arbitration, governance, social] = DOMAINS.map(state);
    let (execution, arbitration, governance) = (execution?, arbitration?, governance?);
    Ok(Gates {
        max_parallel_tasks: max_parallel_tasks(&execution.row)?,
        rate_limit_bonus: rate_limit_bonus(&execution.row, BPS_100_PERCENT)?,
        stake_discount: stake_discount(BPS_100_PERCENT, &execution.row)?,
        can_arbitrate: can_arbitrate(&arbitration.row, &execution.row, epoch),
        can_govern: can_govern(&governance.row, epoch),
        domains: [execution, commissioning?, arbitration, governance, social?],
    })
}
