//! The rule pack and its hash (rules#version-hash), and which weights may take the place of ours.

use std::collections::BTreeMap;

use crate::domains::router::candidates::{Snapshot, built_in};
use crate::domains::router::rules::{DIMENSIONS, Dimension, Weights, pack, scoring_rule_version_hash};
use crate::domains::router::scoring::{ScoreContext, score_intent};
use crate::domains::router::service::Scorer;
use crate::rules::version::canonical_rules;

use crate::domains::router::model_id::ModelId;
use crate::domains::router::tests::support::{DEFAULT_HASH, auto_8, only};

fn named() -> BTreeMap<String, i64> {
    let weights = Weights::default();
    weights.each().map(|(dimension, weight)| (dimension.as_str().to_owned(), weight as i64)).collect()
}

fn with(dimension: Dimension, weight: i64) -> BTreeMap<String, i64> {
    let mut weights = named();
    weights.insert(dimension.as_str().to_owned(), weight);
    weights
}

fn hash(weights: &Weights) -> String {
    scoring_rule_version_hash(weights).unwrap().as_str().to_owned()
}

#[test]
fn the_default_pack_is_the_chapter_s_to_the_byte() {
    let text = canonical_rules(&pack(&Weights::default())).unwrap();
    assert_eq!(text.len(), 1845);
    assert!(
        text.starts_with(r#"[{"name":"context.full_fit_divisor","value":2},{"name":"cost.half_score_bps","#)
    );
    assert!(text.ends_with(r#"{"name":"weight.task_domain_match","value":2200}]"#));
    assert_eq!(hash(&Weights::default()), DEFAULT_HASH);
    assert_eq!(Scorer::new(None).unwrap().rule_version_hash(), DEFAULT_HASH);
}

#[test]
fn another_weight_is_another_hash_and_other_candidates_are_not() {
    let changed = Weights::new(&with(Dimension::OperatorPreference, 500)).unwrap();
    let expected = "ec9247ae943142446ff16d3547d2074970c4f088930bafd462fb3c55c3b51264";
    assert_eq!(hash(&changed), expected);
    let scorer = Scorer::new(Some(Snapshot::new(built_in(|_| true), changed))).unwrap();
    assert_eq!(scorer.rule_version_hash(), expected);
    for snapshot in [auto_8(), only(&[ModelId::KimiK2]), only(&[])] {
        assert_eq!(Scorer::new(Some(snapshot)).unwrap().rule_version_hash(), DEFAULT_HASH);
    }
}

#[test]
fn weights_decide_alone_what_counts() {
    let mut alone = named();
    alone.values_mut().for_each(|weight| *weight = 0);
    alone.insert(Dimension::CostEfficiency.as_str().to_owned(), 1);
    let snapshot = Snapshot::new(built_in(|_| true), Weights::new(&alone).unwrap());
    let scores = score_intent("x", &ScoreContext::default(), Some(&snapshot));
    assert_eq!((scores.winner, scores.bps(ModelId::Gpt4oMini)), (ModelId::Gpt4oMini, 9433));
    assert_eq!(scores.bps(ModelId::ClaudeSonnet35), 4545);
}

#[test]
fn weights_that_cannot_be_used_are_refused_with_their_fault() {
    let mut missing = named();
    missing.remove("skill_match");
    let mut unknown = named();
    unknown.insert("luck".to_owned(), 1);
    let nothing = DIMENSIONS.map(|dimension| (dimension.as_str().to_owned(), 0)).into();
    let cases = [
        (missing, "weight \"skill_match\" is missing"),
        (unknown, "there is no weight \"luck\"; the weights are task_domain_match, "),
        (with(Dimension::Reliability, -1), "weight \"reliability\" must be 0 to 10000"),
        (with(Dimension::Reliability, 10_001), "weight \"reliability\" must be 0 to 10000"),
        (nothing, "the weights must not all be 0"),
    ];
    for (weights, fault) in cases {
        let error = Weights::new(&weights).unwrap_err().to_string();
        let rest = error.strip_prefix("KAPPA_RULES_UNAVAILABLE: ").unwrap();
        assert!(rest.starts_with(fault), "{error}");
    }
    assert!(Weights::new(&with(Dimension::Reliability, 0)).is_ok());
}
