//! Records of decisions (router#decision-record).

use std::sync::Arc;

use crate::domains::router::decision::{Emitter, RoutingDecision, RoutingMode, normalise_rule_version_hash};
use crate::domains::router::fallback::RouteOptions;
use crate::domains::router::model_id::ModelId;
use serde_json::json;

use crate::domains::router::tests::support::{DEFAULT_HASH, World, answer, failure, now, only};

#[test]
fn a_success_leaves_the_chapter_s_record() {
    let world = World::new([answer(1, 1, 1)]);
    now(world.router(None).route("ping", &RouteOptions::default())).unwrap();
    let records = world.records.0.lock().unwrap();
    assert_eq!(records.len(), 1);
    let zero: Vec<&str> = vec![
        "claude-sonnet-3-5",
        "claude-haiku-3-5",
        "gpt-4o",
        "gpt-4o-mini",
        "gemini-1-5-pro",
        "llama-3-3-70b",
    ];
    let mut scores = serde_json::Map::from_iter([("claude".to_owned(), json!(1.0))]);
    scores.extend(zero.into_iter().chain(["mixtral-8x22b", "kimi-k2"]).map(|id| (id.to_owned(), json!(0.0))));
    assert_eq!(
        records[0].to_json(),
        json!({
            "type": "routing_decision",
            "routing_mode": "single",
            "chosen_model_id": "claude",
            "candidates_considered": ["claude"],
            "scores": scores,
            "fallback_attempts": 0,
            "rule_version_hash": format!("rv:sha256:{DEFAULT_HASH}"),
            "decision_hash": "92501ad54766aa4e3ef1e31fe70fc334ca4b4f11d48e5e3774de55c575d7a37c",
        })
    );
}

#[test]
fn exhaustion_leaves_the_chapter_s_record() {
    let world = World::new([failure(ModelId::Claude, "down")]);
    now(world.router(None).route("ping", &RouteOptions::default())).unwrap_err();
    let records = world.records.0.lock().unwrap();
    let record = &records[0];
    assert_eq!((record.routing_mode, record.chosen_model_id), (RoutingMode::Fail, None));
    assert_eq!(record.to_json()["chosen_model_id"], "");
    assert_eq!(record.fallback_attempts, 1);
    assert_eq!(record.decision_hash, "dfb66b0ca7fb4fdea95716b7e1eca62da32f96351e34cba5088a2b4c67c2b825");
}

#[test]
fn failed_attempts_before_the_answer_are_counted() {
    let chain = [ModelId::Gpt4o, ModelId::ClaudeSonnet35];
    let world = World::new([failure(chain[0], "down"), answer(1, 1, 1)]);
    let snapshot = only(&chain);
    now(world.router(Some(snapshot)).route("Review this", &RouteOptions::default())).unwrap();
    let records = world.records.0.lock().unwrap();
    assert_eq!((records[0].fallback_attempts, records[0].candidates_considered.len()), (1, 2));
}

#[test]
fn what_was_asked_changes_the_hash() {
    let hashes = ["ping", "pong"].map(|prompt| {
        [json!(null), json!({}), json!({"maxTokens": 7}), json!({"maxTokens": 7.0})].map(|received| {
            let world = World::new([answer(1, 1, 1)]);
            let options = RouteOptions { received, ..RouteOptions::default() };
            now(world.router(None).route(prompt, &options)).unwrap();
            let records = world.records.0.lock().unwrap();
            records[0].decision_hash.clone()
        })
    });
    for [none, empty, seven, seven_point_nought] in &hashes {
        assert_eq!(none, empty, "no options are empty options");
        assert_ne!(empty, seven);
        assert_eq!(seven, seven_point_nought, "one number, written twice");
    }
    assert_ne!(hashes[0][0], hashes[1][0]);
}

struct Failing;

impl Emitter for Failing {
    fn emit(&self, _: &RoutingDecision) -> Result<(), String> {
        Err("the disk is full".to_owned())
    }
}

struct Panicking;

impl Emitter for Panicking {
    fn emit(&self, _: &RoutingDecision) -> Result<(), String> {
        panic!("as the test has it")
    }
}

#[test]
fn an_emitter_that_fails_or_panics_changes_nothing() {
    let expected = {
        let world = World::new([answer(1, 1, 1)]);
        now(world.router(None).route("ping", &RouteOptions::default())).unwrap()
    };
    let emitters: [(Arc<dyn Emitter>, &str); 2] =
        [(Arc::new(Failing), "the disk is full"), (Arc::new(Panicking), "the emitter panicked")];
    for (emitter, reason) in emitters {
        let mut world = World::new([answer(1, 1, 1), failure(ModelId::Claude, "down")]);
        world.environment.emitter = emitter;
        let router = world.router(None);
        assert_eq!(now(router.route("ping", &RouteOptions::default())).unwrap(), expected);
        assert!(now(router.route("ping", &RouteOptions::default())).is_err());
        assert_eq!(
            (router.stats()[&ModelId::Claude].successes, world.records.0.lock().unwrap().len()),
            (1, 0)
        );
        let lines = world.log.0.lock().unwrap();
        let told = format!("Warn [router] the decision's record was not kept: {reason}");
        assert_eq!(lines.iter().filter(|line| **line == told).count(), 2, "{lines:?}");
    }
}

#[test]
fn rule_hashes_have_one_form_inside_a_record() {
    let recorded = format!("rv:sha256:{DEFAULT_HASH}");
    for form in [DEFAULT_HASH.to_owned(), format!("sha256:{DEFAULT_HASH}"), recorded.clone()] {
        assert_eq!(normalise_rule_version_hash(&form), recorded);
    }
    assert_eq!(normalise_rule_version_hash("sha256:short"), "sha256:short");
}
