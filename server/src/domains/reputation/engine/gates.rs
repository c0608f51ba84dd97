//! The privileges of a standing (reputation#gates): advice that this module does not enforce. Pure.
//!
//! All functions except [`evaluate`] take rows whose decay is already applied.

use super::decay::decayed;
use super::domain::{DOMAINS, Domain};
use super::standing::Standing;
use crate::rules::integer::{BPS_100_PERCENT, IntegerError, bps_mul, ilog2, isqrt, safe_div, safe_mul};

/// The most parallel tasks of any node.
pub const PARALLEL_MAX: i64 = 20;
/// Stakes stop growing below this score.
pub const STAKE_FLOOR: i64 = 1_000;
/// The least score in arbitration for arbitrating.
pub const ARBITRATE_ARBITRATION_MIN: i64 = 5_000;
/// The least score in execution for arbitrating.
pub const ARBITRATE_EXECUTION_MIN: i64 = 3_000;
/// The least score in governance for governing.
pub const GOVERN_GOVERNANCE_MIN: i64 = 4_000;

/// Returns the number of parallel tasks: the score's square root, at most [`PARALLEL_MAX`].
///
/// # Errors
/// A negative score.
pub fn max_parallel_tasks(execution: &Standing) -> Result<i64, IntegerError> {
    Ok(isqrt(execution.score)?.min(PARALLEL_MAX))
}

/// Returns the bonus on `base_rate` calls: as many ten-thousandths of it as the score has binary digits, less one.
///
/// # Errors
/// A negative base rate.
pub fn rate_limit_bonus(execution: &Standing, base_rate: i64) -> Result<i64, IntegerError> {
    not_negative("rate_limit_bonus", "base_rate", base_rate)?;
    bps_mul(base_rate, ilog2(execution.score.max(1))?)
}

/// Returns the stake to post if a node at 10000 must post `required_stake`: never less than that, at most ten times
/// it.
///
/// # Errors
/// A negative stake, or one above a ten-thousandth of the 64-bit range.
pub fn stake_discount(required_stake: i64, execution: &Standing) -> Result<i64, IntegerError> {
    not_negative("stake_discount", "required_stake", required_stake)?;
    safe_div(safe_mul(required_stake, BPS_100_PERCENT)?, execution.score.max(STAKE_FLOOR))
}

/// Returns whether the node may arbitrate. A ban in either domain closes the gate.
pub fn can_arbitrate(arbitration: &Standing, execution: &Standing, epoch: i64) -> bool {
    arbitration.score >= ARBITRATE_ARBITRATION_MIN
        && execution.score >= ARBITRATE_EXECUTION_MIN
        && !arbitration.banned(epoch)
        && !execution.banned(epoch)
}

/// Returns whether the node may govern.
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
    /// Whether the row exists.
    pub present: bool,
    /// The row with decay applied, or its substitute.
    pub row: Standing,
    /// Whether it is banned at the requested epoch.
    pub banned: bool,
}

/// Evaluates the gates of `node_id` at `epoch`. `rows` are its stored rows, in any order; a missing one counts as
/// unknown.
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
