//! Whole numbers and basis points (rules#integers).

use crate::domains::reputation::decay::rate_for;
use crate::domains::reputation::domain::DOMAINS;
use crate::rules::integer::{
    BPS_50_PERCENT, BPS_100_PERCENT, BPS_DENOMINATOR, BPS_MAX, IntegerError, MAX_DECAY_EPOCHS, apply_bps,
    bps_mul, decay, ilog2, isqrt, safe_add, safe_div, safe_mul, safe_sub,
};
use proptest::prelude::*;

use crate::domains::reputation::tests::support::deterministic;

fn message(result: Result<i64, IntegerError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn shares_are_rounded_down_whatever_their_sign() {
    let shares =
        [(1000, 500, 50), (10_000, 10_000, 10_000), (7, 1500, 1), (-15, 5000, -8), (-1, 1, -1), (0, 7, 0)];
    for (value, share, expected) in shares {
        assert_eq!(bps_mul(value, share), Ok(expected), "bps_mul({value}, {share})");
    }
    assert_eq!(apply_bps(7777, 1500), Ok(6611));
}

#[test]
fn division_goes_toward_minus_infinity_for_every_sign() {
    let quotients = [(7, 2, 3), (-7, 2, -4), (7, -2, -4), (-7, -2, 3), (6, -2, -3), (-6, 2, -3), (0, -5, 0)];
    for (dividend, divisor, expected) in quotients {
        assert_eq!(safe_div(dividend, divisor), Ok(expected), "{dividend} / {divisor}");
    }
}

#[test]
fn nothing_is_divided_by_zero() {
    assert_eq!(message(safe_div(1, 0)), "DivisionByZeroError: safe_div(1, 0)");
}

#[test]
fn what_does_not_fit_is_an_overflow() {
    let refused = [
        (
            safe_mul(i64::MAX, 2),
            "OverflowError: safe_mul(9223372036854775807, 2) is outside the 64-bit range",
        ),
        (
            bps_mul(i64::MAX, 10_001),
            "OverflowError: bps_mul(9223372036854775807, 10001) is outside the 64-bit range",
        ),
        (
            safe_div(i64::MIN, -1),
            "OverflowError: safe_div(-9223372036854775808, -1) is outside the 64-bit range",
        ),
        (
            safe_add(i64::MAX, 1),
            "OverflowError: safe_add(9223372036854775807, 1) is outside the 64-bit range",
        ),
        (
            safe_sub(i64::MIN, 1),
            "OverflowError: safe_sub(-9223372036854775808, 1) is outside the 64-bit range",
        ),
        (
            apply_bps(i64::MIN, 10_001),
            "OverflowError: bps_mul(-9223372036854775808, 10001) is outside the 64-bit range",
        ),
        (
            apply_bps(i64::MAX, -1),
            "OverflowError: safe_sub(9223372036854775807, -922337203685478) is outside the 64-bit range",
        ),
    ];
    for (result, expected) in refused {
        assert_eq!(message(result), expected);
    }
    // The product leaves the 64 bits, the result does not.
    assert_eq!(bps_mul(i64::MAX, 10_000), Ok(i64::MAX));
    assert_eq!(bps_mul(i64::MIN, 10_000), Ok(i64::MIN));
}

#[test]
fn decay_rounds_in_each_epoch() {
    for (epochs, expected) in [(0, 1000), (1, 985), (2, 971), (3, 957)] {
        assert_eq!(decay(1000, 150, epochs), Ok(expected), "{epochs} epochs");
    }
    for value in [0, 1, -1, 10_000, i64::MAX, i64::MIN] {
        for rate in [0, 1, 10_000, -5, i64::MAX] {
            assert_eq!(decay(value, rate, 0), Ok(value), "decay({value}, {rate}, 0)");
        }
    }
}

#[test]
fn epochs_are_guarded_before_anything_is_calculated() {
    assert_eq!(message(decay(1, 1, -1)), "UnderflowError: decay: negative epochs (-1)");
    assert_eq!(message(decay(1, 1, -3)), "UnderflowError: decay: negative epochs (-3)");
    assert_eq!(decay(10_000, 100, 10_000), Ok(99));
    let ceiling = "EpochCeilingError: decay: epochs 10001 exceeds MAX_DECAY_EPOCHS 10000";
    assert_eq!(message(decay(10_000, 100, 10_001)), ceiling);
    // The first step alone would overflow.
    assert_eq!(message(decay(i64::MAX, i64::MAX, 10_001)), ceiling);
    assert_eq!(message(decay(i64::MAX, i64::MAX, -1)), "UnderflowError: decay: negative epochs (-1)");
}

/// 10000 steps are composed from tables by squaring, so that nothing stops early.
#[test]
fn for_all_rates_and_scores_517_steps_are_as_good_as_10000() {
    for domain in DOMAINS {
        let rate = rate_for(domain);
        let step: Vec<usize> = (0..=10_000).map(|score| score - score * rate as usize / 10_000).collect();
        let after = |epochs: u32| {
            let (mut power, mut result) = (step.clone(), (0..=10_000).collect::<Vec<usize>>());
            for bit in 0..u32::BITS - epochs.leading_zeros() {
                if epochs >> bit & 1 == 1 {
                    result = result.iter().map(|&score| power[score]).collect();
                }
                power = power.iter().map(|&score| power[score]).collect();
            }
            result
        };
        let (few, many) = (after(517), after(10_000));
        assert_eq!(few, many, "{domain}");
        for score in 0..=10_000 {
            assert_eq!(decay(score, rate, 517), Ok(many[score as usize] as i64), "{domain} {score}");
            assert_eq!(decay(score, rate, 10_000), Ok(many[score as usize] as i64), "{domain} {score}");
        }
    }
}

#[test]
fn roots_and_logarithms_know_their_range() {
    assert_eq!((isqrt(0), isqrt(399), isqrt(400)), (Ok(0), Ok(19), Ok(20)));
    assert_eq!(isqrt(i64::MAX), Ok(3_037_000_499));
    assert_eq!(message(isqrt(-1)), "TypeError: isqrt: -1 is negative");
    assert_eq!((ilog2(1), ilog2(8191), ilog2(8192), ilog2(i64::MAX)), (Ok(0), Ok(12), Ok(13), Ok(62)));
    assert_eq!(message(ilog2(0)), "TypeError: ilog2: 0 is not positive");
    assert_eq!(message(ilog2(-8)), "TypeError: ilog2: -8 is not positive");
}

#[test]
fn constants_are_those_of_the_chapter() {
    assert_eq!((BPS_DENOMINATOR, BPS_MAX, BPS_100_PERCENT), (10_000, 10_000, 10_000));
    assert_eq!((BPS_50_PERCENT, MAX_DECAY_EPOCHS), (5_000, 10_000));
    assert_eq!(DOMAINS.map(rate_for), [500, 300, 1000, 200, 100]);
}

#[test]
fn the_harness_tells_equal_runs_from_different_ones() {
    use std::cell::Cell;
    assert_eq!(deterministic(|| decay(10_000, 500, 100), 10), Ok(()));
    assert_eq!(deterministic(|| decay(1, 1, -1), 10), Ok(()));
    assert!(deterministic(|| decay(1, 1, 1), 0).is_err());
    let calls = Cell::new(0);
    let counted = || {
        calls.set(calls.get() + 1);
        if calls.get() < 3 { Ok(1) } else { isqrt(-1) }
    };
    assert!(deterministic(counted, 3).unwrap_err().starts_with("run 1 gave Ok(1), run 3 Err"));
}

proptest! {
    /// Decay is its definition, taken step by step, for every kind of argument.
    #[test]
    fn decay_is_apply_bps_again_and_again(
        value in wide(),
        rate in prop_oneof![4 => 0_i64..=10_000, 1 => -3_i64..0, 1 => 10_001_i64..30_000, 1 => wide()],
        epochs in 0_i64..40,
    ) {
        let steps = (0..epochs).try_fold(value, |value, _| apply_bps(value, rate));
        prop_assert_eq!(decay(value, rate, epochs), steps);
    }

    /// Every function agrees with 128-bit arithmetic, and fails exactly where the result leaves the 64 bits.
    #[test]
    fn results_are_those_of_wide_arithmetic(a in wide(), b in wide()) {
        let (x, y) = (i128::from(a), i128::from(b));
        let fits = |value: i128| i64::try_from(value).ok();
        prop_assert_eq!(safe_mul(a, b).ok(), fits(x * y));
        prop_assert_eq!(safe_add(a, b).ok(), fits(x + y));
        prop_assert_eq!(safe_sub(a, b).ok(), fits(x - y));
        prop_assert_eq!(bps_mul(a, b).ok(), fits((x * y).div_euclid(10_000)));
        // A Euclidean quotient is the floor for positive divisors; both signs turned give the same quotient.
        let floor = |n: i128, d: i128| if d < 0 { (-n).div_euclid(-d) } else { n.div_euclid(d) };
        if b != 0 {
            prop_assert_eq!(safe_div(a, b).ok(), fits(floor(x, y)));
        }
        if let Ok(root) = isqrt(a) {
            let root = i128::from(root);
            prop_assert!(root * root <= x && (root + 1) * (root + 1) > x);
        }
        if let Ok(log) = ilog2(a) {
            prop_assert!(1_i128 << log <= x && 1_i128 << (log + 1) > x);
        }
    }
}

/// Numbers of every size, edges among them.
fn wide() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => any::<i64>(),
        4 => -20_000_i64..20_000,
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
    ]
}
