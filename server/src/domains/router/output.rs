//! Conversion of the engine's results for the tools.

use std::collections::BTreeMap;

use super::circuit::CircuitState;
use super::fallback::RouteResult;
use super::model_id::ModelId;
use super::scoring::{Scores, as_fraction};
use super::stats::ModelStats;
use crate::catalogue::{
    RouterCallOutput, RouterFallbackOutput, RouterFallbackOutputCircuitStateValue, RouterScoreOutput,
    RouterStatsOutput, RouterStatsOutputModelsValue,
};

/// Converts scores and the hash of their rules.
pub fn scored(scores: &Scores, rule_version_hash: &str) -> RouterScoreOutput {
    RouterScoreOutput {
        scores: scores.each().map(|(model, bps)| (model.to_string(), as_fraction(bps))).collect(),
        winner: scores.winner,
        rule_version_hash: rule_version_hash.to_owned(),
    }
}

impl From<RouteResult> for RouterCallOutput {
    fn from(result: RouteResult) -> Self {
        Self {
            model: result.model,
            content: result.content,
            finish_reason: result.finish_reason,
            prompt_tokens: integer(result.prompt_tokens),
            completion_tokens: integer(result.completion_tokens),
            latency_ms: integer(result.latency_ms),
            cost_usd: result.cost_usd,
            models_attempted: result.models_attempted,
        }
    }
}

/// Converts the used circuits, in the models' order.
pub fn circuits(states: BTreeMap<ModelId, CircuitState>) -> RouterFallbackOutput {
    let shown = states.into_iter().map(|(model, state)| {
        let CircuitState { failures, opened_at } = state;
        (model.to_string(), RouterFallbackOutputCircuitStateValue { failures: failures.into(), opened_at })
    });
    RouterFallbackOutput { circuit_state: shown.collect() }
}

/// Converts the figures of the models that were tried, in the models' order.
pub fn figures(stats: BTreeMap<ModelId, ModelStats>) -> RouterStatsOutput {
    let shown = stats.into_iter().map(|(model, figures)| {
        let row = RouterStatsOutputModelsValue {
            calls_total: integer(figures.calls_total),
            successes: integer(figures.successes),
            failures: integer(figures.failures),
            avg_cost_usd: figures.avg_cost_usd,
            p50_latency_ms: integer(figures.p50_latency_ms),
            success_rate: figures.success_rate,
        };
        (model.to_string(), row)
    });
    RouterStatsOutput { models: shown.collect() }
}

/// Converts a count to the catalogue's integer type.
pub fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
