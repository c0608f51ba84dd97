//! To how many peers a node gossips (theta §10.4): to more of them, the fewer answered lately. Pure.

use std::collections::BTreeMap;

use super::identity::SenderId;

/// The fewest peers.
pub const FANOUT_MIN: i64 = 3;
/// The most peers.
pub const FANOUT_MAX: i64 = 10;
/// The highest score; the lowest is 0.
pub const SCORE_MAX: i64 = 12;
/// Score and fanout add up to this, within their bounds.
const FANOUT_BASE: i64 = 15;
/// How many epochs lie between two scores.
pub const FANOUT_PERIOD_EPOCHS: u64 = 5;

/// The number of peers for a score.
pub fn compute_fanout(score: i64) -> i64 {
    (FANOUT_BASE - score.clamp(0, SCORE_MAX)).clamp(FANOUT_MIN, FANOUT_MAX)
}

/// The latest epochs in which a peer was spoken to. Earlier ones never matter, so they are not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Exchanges {
    last: u64,
    last_successful: Option<u64>,
}

/// Keeps the score of the peers: how many have answered within the last period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanoutTracker {
    period: u64,
    peers: BTreeMap<SenderId, Exchanges>,
    score: i64,
}

impl Default for FanoutTracker {
    fn default() -> Self {
        Self::new(FANOUT_PERIOD_EPOCHS)
    }
}

impl FanoutTracker {
    /// A tracker without peers, with so many epochs between two scores.
    pub fn new(period: u64) -> Self {
        Self { period, peers: BTreeMap::new(), score: 0 }
    }

    /// Takes note of an exchange with a peer, and whether it went well.
    pub fn track_exchange(&mut self, peer: SenderId, ok: bool, epoch: u64) {
        let exchanges = self.peers.entry(peer).or_default();
        exchanges.last = exchanges.last.max(epoch);
        if ok {
            exchanges.last_successful = exchanges.last_successful.max(Some(epoch));
        }
    }

    /// Scores anew and forgets what is older than the period, unless less than a period has passed since epoch `last`.
    /// `period` stands for the tracker's own.
    pub fn recompute_if_due(&mut self, current: u64, last: u64, period: Option<u64>) -> Option<i64> {
        let period = period.unwrap_or(self.period);
        if current.saturating_sub(last) < period {
            return None;
        }
        let cutoff = current.saturating_sub(period);
        self.peers.retain(|_, exchanges| exchanges.last >= cutoff);
        for exchanges in self.peers.values_mut() {
            exchanges.last_successful = exchanges.last_successful.filter(|epoch| *epoch >= cutoff);
        }
        let answered = self.peers.values().filter(|exchanges| exchanges.last_successful.is_some()).count();
        self.score = i64::try_from(answered).unwrap_or(SCORE_MAX).min(SCORE_MAX);
        Some(self.score)
    }

    /// The score that was computed last; 0 before the first.
    pub fn current_score(&self) -> i64 {
        self.score
    }

    /// The number of peers for that score.
    pub fn current_fanout(&self) -> i64 {
        compute_fanout(self.score)
    }

    /// How many peers are remembered.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }
}
