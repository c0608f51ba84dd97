//! Figures (router#figures).

use crate::domains::router::cost::NanoDollars;
use crate::domains::router::model_id::ModelId;
use crate::domains::router::stats::{AttemptOutcome, ModelStats, RouterStats};

const MODEL: ModelId = ModelId::Claude;

fn success(latency_ms: u64) -> AttemptOutcome {
    AttemptOutcome::Success { cost: NanoDollars(10_500_000), latency_ms }
}

fn of(outcomes: impl IntoIterator<Item = AttemptOutcome>) -> ModelStats {
    let mut stats = RouterStats::default();
    outcomes.into_iter().for_each(|outcome| stats.record(MODEL, outcome));
    stats.snapshot()[&MODEL]
}

#[test]
fn two_successes_and_a_failure() {
    let expected = ModelStats {
        calls_total: 3,
        successes: 2,
        failures: 1,
        avg_cost_usd: 0.0105,
        p50_latency_ms: 80,
        success_rate: 0.666_666_666_666_666_6,
    };
    assert_eq!(of([success(120), success(80), AttemptOutcome::Failure]), expected);
}

#[test]
fn failures_alone() {
    let expected = ModelStats { calls_total: 2, failures: 2, ..ModelStats::default() };
    assert_eq!(of([AttemptOutcome::Failure; 2]), expected);
}

#[test]
fn the_oldest_latency_goes_when_the_window_is_full() {
    let figures = of((1..=1001).map(success));
    assert_eq!((figures.successes, figures.p50_latency_ms), (1001, 501), "the window is 2 to 1001");
}

#[test]
fn the_median_is_the_nearest_rank() {
    let cases: [(&[u64], u64); 4] =
        [(&[120, 80], 80), (&[10, 20, 30], 20), (&[40, 30, 20, 10], 20), (&[7], 7)];
    for (latencies, median) in cases {
        assert_eq!(of(latencies.iter().copied().map(success)).p50_latency_ms, median, "{latencies:?}");
    }
}

#[test]
fn figures_can_be_forgotten_for_one_model_or_all() {
    let mut stats = RouterStats::default();
    assert!(stats.snapshot().is_empty());
    stats.record(MODEL, success(1));
    stats.record(ModelId::KimiK2, AttemptOutcome::Failure);
    stats.reset(Some(MODEL));
    assert_eq!(stats.snapshot().into_keys().collect::<Vec<_>>(), [ModelId::KimiK2]);
    stats.reset(None);
    assert!(stats.snapshot().is_empty());
}
