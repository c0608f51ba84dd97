//! Token counts as providers send them. A missing or nonsensical one is 0, never an error (router#answers). Pure.

use serde_json::Value;

/// The largest integer that every client reads exactly.
const LARGEST: u64 = (1 << 53) - 1;

/// Returns the count with that name.
pub fn count(usage: Option<&Value>, name: &str) -> u64 {
    let Some(number) = usage.and_then(|usage| usage.get(name)) else { return 0 };
    // `3.0` is an integer in JSON; the cast is exact below 2^53.
    let whole =
        number.as_f64().filter(|value| value.fract() == 0.0 && (0.0..=LARGEST as f64).contains(value));
    number.as_u64().filter(|value| *value <= LARGEST).or(whole.map(|value| value as u64)).unwrap_or(0)
}

/// Adds two counts.
pub fn sum(a: u64, b: u64) -> u64 {
    a.saturating_add(b).min(LARGEST)
}
