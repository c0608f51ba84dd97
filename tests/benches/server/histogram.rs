//! How large the batches were that Colibri took calls in: a line of its own log, written when it ends.

use std::collections::BTreeMap;
use std::fmt;

/// What the line holds before its numbers.
const MARK: &str = "batch sizes:";

/// Batches by size, summed over rounds.
#[derive(Debug, Default)]
pub struct Histogram {
    batches: BTreeMap<(u64, String), u64>,
}

impl Histogram {
    /// Adds what a server's log says: `… batch sizes: 1:12 2:3 3-4:0 …`. Nothing if it does not say.
    pub fn add(&mut self, log: &str) {
        let line = log.lines().rev().find_map(|line| line.split_once(MARK));
        let entries = line.map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
        for entry in entries.filter_map(|entry| entry.split_once(':')) {
            let least = entry.0.split('-').next().and_then(|least| least.parse().ok());
            let (Some(least), Ok(count)) = (least, entry.1.parse::<u64>()) else { continue };
            *self.batches.entry((least, entry.0.to_owned())).or_default() += count;
        }
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.batches.values().sum();
        if all == 0 {
            return write!(f, "the server's log does not say");
        }
        for (number, ((_, sizes), count)) in self.batches.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{sizes}: {count} ({:.1} %)", *count as f64 * 100.0 / all as f64)?;
        }
        Ok(())
    }
}
