//! Integers and basis points (rules#integers). Every quantity is an `i64`, and products are computed in 128 bits. A
//! result that does not fit is an error, and division rounds toward minus infinity for all signs. Pure.

/// The whole in basis points: 100 %.
pub const BPS_DENOMINATOR: i64 = 10_000;
/// The largest share of a whole.
pub const BPS_MAX: i64 = 10_000;
/// 100 % in basis points.
pub const BPS_100_PERCENT: i64 = 10_000;
/// 50 % in basis points.
pub const BPS_50_PERCENT: i64 = 5_000;
/// The most epochs in one call of [`decay`].
pub const MAX_DECAY_EPOCHS: i64 = 10_000;

/// Values up to this one, times any share of a whole, fit easily into 64 bits.
const SMALL: i64 = u32::MAX as i64;

/// Why a number cannot be computed. Each message begins with the class that rules#integers names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntegerError {
    /// The result exceeds 64 bits.
    #[error("OverflowError: {operation}({left}, {right}) is outside the 64-bit range")]
    Overflow {
        /// The function.
        operation: &'static str,
        /// Its first argument.
        left: i64,
        /// Its second argument.
        right: i64,
    },
    /// A divisor of zero.
    #[error("DivisionByZeroError: {operation}({dividend}, 0)")]
    DivisionByZero {
        /// The function.
        operation: &'static str,
        /// The dividend.
        dividend: i64,
    },
    /// A negative argument where none is allowed.
    #[error("UnderflowError: {operation}: negative {argument} ({value})")]
    Underflow {
        /// The function.
        operation: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// Its value.
        value: i64,
    },
    /// More epochs in one call than [`MAX_DECAY_EPOCHS`].
    #[error("EpochCeilingError: decay: epochs {epochs} exceeds MAX_DECAY_EPOCHS {MAX_DECAY_EPOCHS}")]
    EpochCeiling {
        /// The number of epochs given.
        epochs: i64,
    },
    /// An argument for which the function has no value.
    #[error("TypeError: {operation}: {value} is {what}")]
    Type {
        /// The function.
        operation: &'static str,
        /// The argument.
        value: i64,
        /// The fault.
        what: &'static str,
    },
}

/// Computes `left * right`.
///
/// # Errors
/// [`IntegerError::Overflow`].
pub fn safe_mul(left: i64, right: i64) -> Result<i64, IntegerError> {
    left.checked_mul(right).ok_or(IntegerError::Overflow { operation: "safe_mul", left, right })
}

/// Computes `left + right`.
///
/// # Errors
/// [`IntegerError::Overflow`].
pub fn safe_add(left: i64, right: i64) -> Result<i64, IntegerError> {
    left.checked_add(right).ok_or(IntegerError::Overflow { operation: "safe_add", left, right })
}

/// Computes `left - right`.
///
/// # Errors
/// [`IntegerError::Overflow`].
pub fn safe_sub(left: i64, right: i64) -> Result<i64, IntegerError> {
    left.checked_sub(right).ok_or(IntegerError::Overflow { operation: "safe_sub", left, right })
}

/// Computes `left / right`, rounded toward minus infinity.
///
/// # Errors
/// [`IntegerError::DivisionByZero`]; [`IntegerError::Overflow`] for the smallest integer by -1.
pub fn safe_div(left: i64, right: i64) -> Result<i64, IntegerError> {
    if right == 0 {
        return Err(IntegerError::DivisionByZero { operation: "safe_div", dividend: left });
    }
    let (dividend, divisor) = (i128::from(left), i128::from(right));
    let toward_zero = dividend / divisor;
    let exact = dividend % divisor == 0;
    let below_zero = (left < 0) != (right < 0);
    let floor = if !exact && below_zero { toward_zero - 1 } else { toward_zero };
    i64::try_from(floor).map_err(|_| IntegerError::Overflow { operation: "safe_div", left, right })
}

/// Computes the share `share_bps` of `value`, rounded toward minus infinity. The share may be outside 0..=10000.
///
/// # Errors
/// [`IntegerError::Overflow`] if the result does not fit.
pub fn bps_mul(value: i64, share_bps: i64) -> Result<i64, IntegerError> {
    // A division of 128 bits costs ten times as much, and decay does little else.
    if let Some(product) = value.checked_mul(share_bps) {
        return Ok(product.div_euclid(BPS_DENOMINATOR));
    }
    let product = i128::from(value) * i128::from(share_bps);
    i64::try_from(product.div_euclid(i128::from(BPS_DENOMINATOR))).map_err(|_| IntegerError::Overflow {
        operation: "bps_mul",
        left: value,
        right: share_bps,
    })
}

/// Computes `value` less the share `loss_bps` of it.
///
/// # Errors
/// As [`bps_mul`].
pub fn apply_bps(value: i64, loss_bps: i64) -> Result<i64, IntegerError> {
    safe_sub(value, bps_mul(value, loss_bps)?)
}

/// [`apply_bps`] taken `epochs` times, rounding in each.
///
/// # Errors
/// [`IntegerError::Underflow`] for negative epochs, [`IntegerError::EpochCeiling`] above
/// [`MAX_DECAY_EPOCHS`], otherwise as [`bps_mul`].
pub fn decay(value: i64, rate_bps: i64, epochs: i64) -> Result<i64, IntegerError> {
    if epochs < 0 {
        return Err(IntegerError::Underflow { operation: "decay", argument: "epochs", value: epochs });
    }
    if epochs > MAX_DECAY_EPOCHS {
        return Err(IntegerError::EpochCeiling { epochs });
    }
    if (0..=SMALL).contains(&value) && (0..=BPS_DENOMINATOR).contains(&rate_bps) {
        return Ok(decay_small(value, rate_bps, epochs));
    }
    let mut rest = value;
    for _ in 0..epochs {
        let loss = bps_mul(rest, rate_bps)?;
        // Once a step changes nothing, no further step does.
        if loss == 0 {
            break;
        }
        rest = safe_sub(rest, loss)?;
    }
    Ok(rest)
}

/// Computes [`decay`] of a value in 0..=[`SMALL`] at a rate in 0..=10000. No product exceeds 64 bits and nothing
/// falls below 0, so the steps need no checks: a walk over all rows of a domain takes millions of steps.
const fn decay_small(value: i64, rate_bps: i64, epochs: i64) -> i64 {
    let (mut rest, mut left) = (value, epochs);
    while left > 0 {
        let loss = (rest * rate_bps) / BPS_DENOMINATOR;
        if loss == 0 {
            break;
        }
        rest -= loss;
        left -= 1;
    }
    rest
}

/// Computes the square root of `value`, rounded down.
///
/// # Errors
/// [`IntegerError::Type`] below 0.
pub fn isqrt(value: i64) -> Result<i64, IntegerError> {
    value.checked_isqrt().ok_or(IntegerError::Type { operation: "isqrt", value, what: "negative" })
}

/// Computes the binary logarithm of `value`, rounded down.
///
/// # Errors
/// [`IntegerError::Type`] for anything below 1.
pub fn ilog2(value: i64) -> Result<i64, IntegerError> {
    let log = value.checked_ilog2().map(i64::from);
    log.ok_or(IntegerError::Type { operation: "ilog2", value, what: "not positive" })
}
