//! Scores: the worked examples of router#scoring to the last decimal, ties, gates, and what is ignored.

use std::collections::BTreeMap;

use crate::domains::router::candidates::{Candidate, LatencyTier, Snapshot, built_in};
use crate::domains::router::model_id::{MODELS, ModelId};
use crate::domains::router::rules::Weights;
use crate::domains::router::scoring::{
    ScoreContext, Scores, Task, WITHOUT_CANDIDATES, as_fraction, score_intent,
};

use crate::domains::router::tests::support::{World, about, at, auto_8, failure, now, only, plain};

/// The eight models that have rows, in order.
const RATED: [&str; 8] = [
    "claude-sonnet-3-5",
    "claude-haiku-3-5",
    "gpt-4o",
    "gpt-4o-mini",
    "gemini-1-5-pro",
    "llama-3-3-70b",
    "mixtral-8x22b",
    "kimi-k2",
];

fn example_a() -> ScoreContext {
    about(Task {
        domain: Some("code_review".to_owned()),
        tokens: Some(12_000),
        deadline_ms: Some(6000),
        skill: vec!["coding".to_owned()],
    })
}

const PROMPT_A: &str = "Review this Rust function";

fn fractions(scores: &Scores) -> Vec<(&'static str, f64)> {
    scores.each().map(|(model, bps)| (model.as_str(), as_fraction(bps))).collect()
}

fn expected(rated: [f64; 8]) -> Vec<(&'static str, f64)> {
    std::iter::once(("claude", 0.0)).chain(RATED.into_iter().zip(rated)).collect()
}

fn chain(scores: &Scores) -> Vec<&'static str> {
    scores.chain().into_iter().map(ModelId::as_str).collect()
}

#[test]
fn without_candidates_the_answer_is_the_constant() {
    let scores = score_intent("hi", &ScoreContext::default(), None);
    assert_eq!(scores, WITHOUT_CANDIDATES);
    let others = MODELS.into_iter().skip(1).map(|model| (model.as_str(), 0.0));
    assert_eq!(fractions(&scores), std::iter::once(("claude", 1.0)).chain(others).collect::<Vec<_>>());
    assert_eq!((scores.winner, chain(&scores)), (ModelId::Claude, vec!["claude"]));
}

#[test]
fn the_constant_ignores_prompt_task_and_preference() {
    let context =
        ScoreContext { operator_preference: BTreeMap::from([("gpt-4o".to_owned(), 1.0)]), ..example_a() };
    for prompt in ["hi", "", PROMPT_A] {
        assert_eq!(score_intent(prompt, &context, None), WITHOUT_CANDIDATES);
    }
}

#[test]
fn example_a_scores_exactly_as_listed() {
    let scores = score_intent(PROMPT_A, &example_a(), Some(&auto_8()));
    let listed = [0.779, 0.5234, 0.7891, 0.5476, 0.5165, 0.6176, 0.5062, 0.6627];
    assert_eq!(fractions(&scores), expected(listed));
    assert_eq!(scores.winner, ModelId::Gpt4o);
    assert_eq!(
        chain(&scores),
        [
            "gpt-4o",
            "claude-sonnet-3-5",
            "kimi-k2",
            "llama-3-3-70b",
            "gpt-4o-mini",
            "claude-haiku-3-5",
            "gemini-1-5-pro",
            "mixtral-8x22b",
        ]
    );
    for _ in 0..100 {
        assert_eq!(score_intent(PROMPT_A, &example_a(), Some(&auto_8())), scores);
    }
}

#[test]
fn preference_nudges_example_a_as_listed() {
    let preference =
        [("gpt-4o", 1.0), ("claude-sonnet-3-5", 0.0), ("nope", 0.5), ("__proto__", 1.0), ("", 1.0)];
    let operator_preference =
        preference.into_iter().map(|(model, value)| (model.to_owned(), value)).collect();
    let context = ScoreContext { operator_preference, ..example_a() };
    let scores = score_intent(PROMPT_A, &context, Some(&auto_8()));
    assert_eq!(fractions(&scores), expected([0.759, 0.5234, 0.8091, 0.5476, 0.5165, 0.6176, 0.5062, 0.6627]));
}

#[test]
fn example_b_a_bare_greeting() {
    let scores = score_intent("hello", &ScoreContext::default(), Some(&auto_8()));
    let listed = [0.6365, 0.7084, 0.6466, 0.7326, 0.6352, 0.7201, 0.6587, 0.6515];
    assert_eq!(fractions(&scores), expected(listed));
    assert_eq!(scores.winner, ModelId::Gpt4oMini);
}

#[test]
fn example_c_what_does_not_fit_is_gated() {
    let context = about(Task { tokens: Some(150_000), ..Task::default() });
    let scores = score_intent("x", &context, Some(&auto_8()));
    let listed = [0.5265, 0.5984, 0.0, 0.0, 0.6352, 0.0, 0.0, 0.6197];
    assert_eq!(fractions(&scores), expected(listed));
    assert_eq!(chain(&scores), ["gemini-1-5-pro", "kimi-k2", "claude-haiku-3-5", "claude-sonnet-3-5"]);
}

#[test]
fn example_d_when_nothing_fits_the_largest_window_is_asked() {
    let context = about(Task { tokens: Some(2_000_000), ..Task::default() });
    let scores = score_intent("x", &context, Some(&auto_8()));
    assert_eq!(fractions(&scores), expected([0.0; 8]));
    assert_eq!(chain(&scores), ["gemini-1-5-pro"]);
}

#[test]
fn example_e_without_any_time_nobody_is_fast_enough() {
    let context = about(Task { deadline_ms: Some(0), ..Task::default() });
    let scores = score_intent("x", &context, Some(&auto_8()));
    assert_eq!((scores.winner, scores.bps(ModelId::Gpt4oMini)), (ModelId::Gpt4oMini, 6026));
    // Two equal rows but for the tier: without any time the tier makes no difference.
    let tiered = |model, latency_tier| Candidate { latency_tier, ..plain(model) };
    let rows = [tiered(ModelId::Gpt4o, LatencyTier::Fast), tiered(ModelId::KimiK2, LatencyTier::Slow)];
    let equal = score_intent("x", &context, Some(&Snapshot::new(rows, Weights::default())));
    assert_eq!(equal.bps(ModelId::Gpt4o), equal.bps(ModelId::KimiK2));
}

#[test]
fn example_f_words_of_the_prompt_stand_for_domains() {
    let prompt = "Review this Rust function for security bugs";
    let scores = score_intent(prompt, &ScoreContext::default(), Some(&auto_8()));
    assert_eq!(scores.winner, ModelId::ClaudeSonnet35);
    let listed = [(ModelId::ClaudeSonnet35, 7465), (ModelId::Gpt4oMini, 6776), (ModelId::Gpt4o, 6741)];
    for (model, bps) in listed {
        assert_eq!(scores.bps(model), bps, "{model}");
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let listed = score_intent(PROMPT_A, &example_a(), Some(&auto_8()));
    for turn in 0..8 {
        let mut rows = built_in(|_| true);
        rows.rotate_left(turn);
        for rows in [rows.clone(), rows.into_iter().rev().collect()] {
            let snapshot = Snapshot::new(rows, Weights::default());
            assert_eq!(score_intent(PROMPT_A, &example_a(), Some(&snapshot)), listed);
        }
    }
}

#[test]
fn of_equals_the_first_by_name_wins() {
    let rows = [plain(ModelId::Gpt4o), plain(ModelId::ClaudeSonnet35)];
    let scores = score_intent("x", &ScoreContext::default(), Some(&Snapshot::new(rows, Weights::default())));
    assert_eq!(scores.bps(ModelId::Gpt4o), scores.bps(ModelId::ClaudeSonnet35));
    assert_eq!(scores.winner, ModelId::ClaudeSonnet35);
}

#[test]
fn of_equals_the_cheaper_wins_before_the_name_counts() {
    // Costs above any budget score nothing alike, so the totals are equal and the prices are not.
    let priced = |model, cost| Candidate { cost_bps_per_kilotoken: cost, ..plain(model) };
    let rows = [priced(ModelId::ClaudeSonnet35, 9_000_001), priced(ModelId::Gpt4o, 9_000_000)];
    let scores = score_intent("x", &ScoreContext::default(), Some(&Snapshot::new(rows, Weights::default())));
    assert_eq!(scores.bps(ModelId::Gpt4o), scores.bps(ModelId::ClaudeSonnet35));
    assert_eq!(scores.winner, ModelId::Gpt4o);
}

#[test]
fn of_equal_windows_the_first_by_name_is_asked() {
    let rows = [plain(ModelId::Gpt4o), plain(ModelId::ClaudeSonnet35)];
    let context = about(Task { tokens: Some(200_001), ..Task::default() });
    let scores = score_intent("x", &context, Some(&Snapshot::new(rows, Weights::default())));
    assert_eq!(chain(&scores), ["claude-sonnet-3-5"]);
}

#[test]
fn with_every_row_disabled_the_answer_is_the_constant() {
    for snapshot in [only(&[]), Snapshot::default()] {
        assert_eq!(score_intent("x", &ScoreContext::default(), Some(&snapshot)), WITHOUT_CANDIDATES);
    }
}

#[test]
fn an_open_circuit_does_not_change_scores() {
    let world = World::new((0..3).map(|_| failure(ModelId::Gpt4o, "down")));
    let router = world.router(Some(only(&[ModelId::Gpt4o])));
    let before = router.scorer().unwrap().score(PROMPT_A, &example_a());
    for _ in 0..3 {
        assert!(now(router.route("x", &Default::default())).is_err());
    }
    assert_eq!(router.circuits()[&ModelId::Gpt4o].opened_at, Some(at(0).wall_ms));
    assert_eq!(router.scorer().unwrap().score(PROMPT_A, &example_a()), before);
}

#[test]
fn a_model_listed_twice_counts_by_its_first_row() {
    let disabled = Candidate { enabled: false, ..plain(ModelId::Gpt4o) };
    let snapshot = Snapshot::new([disabled, plain(ModelId::Gpt4o)], Weights::default());
    assert_eq!(score_intent("x", &ScoreContext::default(), Some(&snapshot)), WITHOUT_CANDIDATES);
}

#[test]
fn listed_task_domains_are_compared_in_one_form() {
    let row = Candidate { task_domains: vec!["Code Review!".to_owned()], ..plain(ModelId::Gpt4o) };
    let snapshot = Snapshot::new([row], Weights::default());
    let bps = |domain: Option<&str>| {
        let context = about(Task { domain: domain.map(str::to_owned), ..Task::default() });
        score_intent("x", &context, Some(&snapshot)).bps(ModelId::Gpt4o)
    };
    let (full, neutral, none) = (bps(Some("__code--REVIEW")), bps(None), bps(Some("code")));
    assert_eq!((full - neutral, neutral - none), (1100, 1100));
    assert_eq!(bps(Some(" - ")), neutral, "a domain of separators is none");
}

#[test]
fn only_the_first_64_words_of_a_prompt_are_looked_at() {
    let seen = format!("{} code", ["word"; 63].join(" "));
    let unseen = format!("{} code", ["word"; 64].join(" "));
    let of = |prompt: &str| score_intent(prompt, &ScoreContext::default(), Some(&auto_8()));
    assert_ne!(of(&seen).bps(ModelId::Gpt4oMini), of(&unseen).bps(ModelId::Gpt4oMini));
    assert_eq!(of(&unseen).bps(ModelId::Gpt4oMini), of(&["word"; 65].join(" ")).bps(ModelId::Gpt4oMini));
}

#[test]
fn a_prompt_is_four_bytes_a_token_where_nobody_has_counted() {
    let row = Candidate { context_window_tokens: 2, ..plain(ModelId::Gpt4o) };
    let snapshot = Snapshot::new([row], Weights::default());
    let fits =
        |prompt| score_intent(prompt, &ScoreContext::default(), Some(&snapshot)).bps(ModelId::Gpt4o) > 0;
    assert!(fits("12345678") && !fits("123456789") && !fits("ééééé"));
    // A window that is filled to the brim fits, at a value of nothing; it is not gated.
    let full = about(Task { tokens: Some(2), ..Task::default() });
    assert!(score_intent("x", &full, Some(&snapshot)).bps(ModelId::Gpt4o) > 0);
}

#[test]
fn skills_are_compared_trimmed_in_lower_case_each_once() {
    let snapshot = only(&[ModelId::Gpt4o]);
    let bps = |skills: &[&str]| {
        let skill = skills.iter().map(|&skill| skill.to_owned()).collect();
        score_intent("x", &about(Task { skill, ..Task::default() }), Some(&snapshot)).bps(ModelId::Gpt4o)
    };
    let all = bps(&[]);
    assert_eq!(bps(&[" CODING ", "coding", "", "  "]), all);
    assert_eq!(all - bps(&["coding", "knitting"]), 650);
    assert_eq!(all - bps(&["knitting"]), 1300);
}
