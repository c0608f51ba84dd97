//! The results of attempts since the process started (router#figures). Pure.

use std::collections::{BTreeMap, VecDeque};

use super::cost::NanoDollars;
use super::model_id::ModelId;

/// The number of latencies remembered for each model; the oldest is dropped first.
pub const ROUTER_LATENCY_RING_SIZE: usize = 1000;

/// The result of an attempt that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It returned a completion.
    Success {
        /// The cost of the completion.
        cost: NanoDollars,
        /// The duration in milliseconds.
        latency_ms: u64,
    },
    /// It returned no completion, and cost nothing.
    Failure,
}

/// A model's figures.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelStats {
    /// Attempts made.
    pub calls_total: u64,
    /// Attempts that returned a completion.
    pub successes: u64,
    /// Attempts that returned none.
    pub failures: u64,
    /// Average dollars per completion; 0 without one.
    pub avg_cost_usd: f64,
    /// Median of the remembered latencies, nearest rank; 0 without one.
    pub p50_latency_ms: u64,
    /// Successes per call, 0 to 1.
    pub success_rate: f64,
}

/// The figures of every model that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouterStats {
    models: BTreeMap<ModelId, Tally>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Tally {
    successes: u64,
    failures: u64,
    cost: NanoDollars,
    latencies: VecDeque<u64>,
}

impl RouterStats {
    /// Counts an attempt.
    pub fn record(&mut self, model: ModelId, outcome: AttemptOutcome) {
        let tally = self.models.entry(model).or_default();
        match outcome {
            AttemptOutcome::Success { cost, latency_ms } => {
                tally.successes += 1;
                tally.cost = [tally.cost, cost].into_iter().sum();
                if tally.latencies.len() == ROUTER_LATENCY_RING_SIZE {
                    tally.latencies.pop_front();
                }
                tally.latencies.push_back(latency_ms);
            }
            AttemptOutcome::Failure => tally.failures += 1,
        }
    }

    /// Returns the current figures.
    pub fn snapshot(&self) -> BTreeMap<ModelId, ModelStats> {
        self.models.iter().map(|(&model, tally)| (model, tally.figures())).collect()
    }

    /// Forgets a model's figures, or all of them.
    pub fn reset(&mut self, model: Option<ModelId>) {
        match model {
            Some(model) => drop(self.models.remove(&model)),
            None => self.models.clear(),
        }
    }
}

impl Tally {
    fn figures(&self) -> ModelStats {
        // The first record creates a tally, so it has at least one call.
        let calls_total = self.successes.saturating_add(self.failures);
        ModelStats {
            calls_total,
            successes: self.successes,
            failures: self.failures,
            avg_cost_usd: self.cost.per(self.successes),
            p50_latency_ms: self.median_latency(),
            success_rate: self.successes as f64 / calls_total as f64,
        }
    }

    fn median_latency(&self) -> u64 {
        let mut sorted: Vec<u64> = self.latencies.iter().copied().collect();
        sorted.sort_unstable();
        let rank = sorted.len().div_ceil(2).saturating_sub(1);
        sorted.get(rank).copied().unwrap_or_default()
    }
}
