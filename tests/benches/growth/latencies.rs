//! What was measured many times, in short.

use std::time::Duration;

/// Durations in ascending order.
pub struct Latencies(Vec<Duration>);

impl Latencies {
    /// Of what was measured, in any order.
    pub fn of(mut all: Vec<Duration>) -> Self {
        all.sort();
        Self(all)
    }

    /// The duration that this many per cent do not exceed (nearest rank); zero when nothing was measured.
    pub fn at(&self, per_cent: usize) -> Duration {
        let rank = (self.0.len() * per_cent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied().unwrap_or_default()
    }
}

impl std::fmt::Display for Latencies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (p50, p99, max) = (self.at(50), self.at(99), self.at(100));
        write!(f, "p50 {p50:.2?}, p99 {p99:.2?}, max {max:.2?} ({} calls)", self.0.len())
    }
}
