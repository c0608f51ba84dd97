//! What must hold of any candidates and any history (router#scoring).
//!
//! `COLIBRI_ROUTER_CASES=20000 cargo test -p colibri --lib router::tests::properties` tries more.

use std::collections::BTreeMap;

use crate::domains::router::candidates::{Candidate, LatencyTier, Snapshot};
use crate::domains::router::circuit::{Admission, CircuitBreaker};
use crate::domains::router::model_id::{MODELS, ModelId};
use crate::domains::router::rules::{DIMENSIONS, Weights};
use crate::domains::router::scoring::{ScoreContext, Task, score_intent};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

use crate::domains::router::tests::support::at;

fn cases() -> ProptestConfig {
    let cases = std::env::var("COLIBRI_ROUTER_CASES").map_or(256, |text| text.parse().unwrap());
    ProptestConfig::with_cases(cases)
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["code", "Review", "security", "data", "coding", "speed", "é", "-", ""])
        .prop_map(str::to_owned)
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(), 0..4)
}

fn tokens() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..300_000, Just(9_007_199_254_740_991)]
}

fn candidate(model_id: ModelId) -> impl Strategy<Value = Candidate> {
    let tier = prop::sample::select(vec![LatencyTier::Fast, LatencyTier::Balanced, LatencyTier::Slow]);
    let numbers = (tokens(), tokens(), any::<u8>(), -20_000_i64..20_000);
    (numbers, tier, any::<bool>(), words(), words()).prop_map(
        move |((window, cost, profile, reliability_bps), latency_tier, enabled, strengths, domains)| {
            Candidate {
                model_id,
                provider: "somebody".to_owned(),
                context_window_tokens: window + 1,
                latency_tier,
                cost_bps_per_kilotoken: cost,
                domain_fit_profile: profile,
                enabled,
                reliability_bps,
                strengths,
                task_domains: domains,
                split_price: None,
            }
        },
    )
}

/// Rows of different models, at least so many.
fn rows(least: usize) -> impl Strategy<Value = Vec<Candidate>> {
    subsequence(MODELS.to_vec(), least..=MODELS.len())
        .prop_flat_map(|models| models.into_iter().map(candidate).collect::<Vec<_>>())
}

fn weights() -> impl Strategy<Value = Weights> {
    prop::collection::vec(0_i64..=10_000, DIMENSIONS.len()).prop_map(|weights| {
        let names = DIMENSIONS.map(|dimension| dimension.as_str().to_owned());
        Weights::new(&names.into_iter().zip(weights).collect()).unwrap_or_default()
    })
}

fn context() -> impl Strategy<Value = ScoreContext> {
    let task = (prop::option::of(word()), prop::option::of(tokens()), prop::option::of(tokens()), words());
    let preference = prop::collection::btree_map(
        prop::sample::select(MODELS.to_vec()).prop_map(|model| model.to_string()),
        0.0..=1.0,
        0..4,
    );
    (task, preference).prop_map(|((domain, tokens, deadline_ms, skill), operator_preference)| ScoreContext {
        task: Task { domain, tokens, deadline_ms, skill },
        operator_preference,
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn scores_stay_in_range_and_equal_questions_have_equal_answers(
        rows in rows(0), weights in weights(), context in context(), prompt in "[a-z ]{0,40}",
    ) {
        let snapshot = Snapshot::new(rows, weights);
        let scores = score_intent(&prompt, &context, Some(&snapshot));
        prop_assert_eq!(scores, score_intent(&prompt, &context, Some(&snapshot)));
        prop_assert!(scores.each().all(|(_, bps)| bps <= 10_000));
        let chain = scores.chain();
        prop_assert_eq!(chain[0], scores.winner);
        for (model, bps) in scores.each() {
            let times = chain.iter().filter(|other| **other == model).count();
            prop_assert_eq!(times, usize::from(bps > 0 || model == scores.winner), "{}", model);
            prop_assert!(bps <= scores.bps(scores.winner));
        }
        let tail: Vec<u64> = chain.iter().map(|model| scores.bps(*model)).collect();
        prop_assert!(tail.is_sorted_by(|left, right| left >= right));
    }

    #[test]
    fn the_order_of_rows_does_not_matter(
        rows in rows(0), context in context(), order in prop::collection::vec(any::<Index>(), MODELS.len()),
    ) {
        let mut shuffled = rows.clone();
        for (place, index) in order.iter().enumerate().take(rows.len()) {
            shuffled.swap(place, index.index(rows.len()));
        }
        let [listed, shuffled] = [rows, shuffled].map(|rows| Snapshot::new(rows, Weights::default()));
        prop_assert_eq!(
            score_intent("Review this", &context, Some(&listed)),
            score_intent("Review this", &context, Some(&shuffled))
        );
    }

    #[test]
    fn a_higher_preference_never_lowers_a_score(
        rows in rows(0), context in context(), model in prop::sample::select(MODELS.to_vec()),
        low in 0.0..=1.0, high in 0.0..=1.0,
    ) {
        let snapshot = Snapshot::new(rows, Weights::default());
        let of = |preference: f64| {
            let mut context = context.clone();
            context.operator_preference.insert(model.to_string(), preference);
            score_intent("x", &context, Some(&snapshot)).bps(model)
        };
        let (low, high) = if low <= high { (low, high) } else { (high, low) };
        prop_assert!(of(low) <= of(high));
    }

    #[test]
    fn a_higher_price_never_raises_a_score_and_touches_nobody_else_s(
        rows in rows(1), context in context(), chosen in any::<Index>(), more in tokens(),
    ) {
        let mut dearer = rows.clone();
        let row = chosen.get(&rows).model_id;
        let place = rows.iter().position(|other| other.model_id == row).unwrap();
        dearer[place].cost_bps_per_kilotoken += more;
        let [before, after] = [rows, dearer]
            .map(|rows| score_intent("x", &context, Some(&Snapshot::new(rows, Weights::default()))));
        for (model, bps) in after.each() {
            if model == row {
                prop_assert!(bps <= before.bps(model));
            } else {
                prop_assert_eq!(bps, before.bps(model));
            }
        }
    }

    #[test]
    fn a_circuit_never_admits_two_probes_nor_anybody_while_it_is_open(
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut history = History::default();
        for step in steps {
            history.take(step)?;
        }
    }
}

/// An event of one circuit.
#[derive(Debug, Clone)]
enum Step {
    Tick(u64),
    Admit,
    Release(Index),
    Fail,
    Succeed,
    Reset,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => prop_oneof![1_u64..40_000, Just(59_999), Just(60_000)].prop_map(Step::Tick),
        5 => Just(Step::Admit),
        3 => any::<Index>().prop_map(Step::Release),
        5 => Just(Step::Fail),
        1 => Just(Step::Succeed),
        1 => Just(Step::Reset),
    ]
}

#[derive(Default)]
struct History {
    breaker: CircuitBreaker,
    now_ms: u64,
    admissions: usize,
    /// Attempts under way, each with its number.
    under_way: Vec<(usize, Admission)>,
    /// The attempt that decides, until it ends, or a success or a reset decides before it.
    probe: Option<usize>,
}

impl History {
    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        let (model, now) = (ModelId::Claude, at(self.now_ms));
        match step {
            Step::Tick(ms) => self.now_ms += ms,
            Step::Admit => {
                let open = self.breaker.is_open(model, now);
                let Ok(admission) = self.breaker.admit(model, now) else { return Ok(()) };
                prop_assert!(!open, "admitted by an open circuit");
                prop_assert_eq!(self.probe, None, "admitted beside a probe");
                self.admissions += 1;
                self.probe = admission.is_probe().then_some(self.admissions);
                self.under_way.push((self.admissions, admission));
            }
            Step::Release(which) if !self.under_way.is_empty() => {
                let (number, admission) = self.under_way.swap_remove(which.index(self.under_way.len()));
                self.breaker.release(&admission);
                self.probe = self.probe.filter(|probe| *probe != number);
            }
            Step::Release(_) => {}
            Step::Fail => self.breaker.record_failure(model, now),
            Step::Succeed => {
                self.breaker.record_success(model);
                self.probe = None;
            }
            Step::Reset => {
                self.breaker.reset(Some(model));
                self.probe = None;
            }
        }
        let state = self.breaker.snapshot().remove(&model).unwrap_or_default();
        prop_assert_eq!(state.opened_at.is_some(), state.failures >= 3, "{:?}", state);
        Ok(())
    }
}

/// A set of names is ignored if no candidate row has one of them.
#[test]
fn preferences_for_other_names_change_nothing() {
    let names = ["nope", "__proto__", "constructor", ""];
    let operator_preference: BTreeMap<String, f64> =
        names.into_iter().map(|name| (name.to_owned(), 1.0)).collect();
    let context = ScoreContext { operator_preference, ..ScoreContext::default() };
    let snapshot = crate::domains::router::tests::support::auto_8();
    assert_eq!(
        score_intent("hello", &context, Some(&snapshot)),
        score_intent("hello", &ScoreContext::default(), Some(&snapshot))
    );
}
