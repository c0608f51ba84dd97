//! The rules of reputation as data, built from the constants that the engine calculates with.

use serde_json::{Map, Value, json};

use super::super::automatic::{SESSION_SEALED, TASK_COMMISSIONED, TASK_DONE};
use super::super::decay::rate_for;
use super::super::domain::DOMAINS;
use super::super::gain::{ACK_FLOOR_BPS, ACK_MAX_BPS, GAIN_CAP_PER_EPOCH_BPS, WEAK_CEILING_BPS};
use super::super::gates::{
    ARBITRATE_ARBITRATION_MIN, ARBITRATE_EXECUTION_MIN, GOVERN_GOVERNANCE_MIN, PARALLEL_MAX, STAKE_FLOOR,
};
use super::super::pack::LAMBDA_RULES_HASH;
use super::super::penalty::{BAN_DURATION_EPOCHS, Band, SCAR_KEEP_BPS, SEVERITY_BANDS, damage_for};
use crate::rules::integer::MAX_DECAY_EPOCHS;
use crate::rules::version::{canonical_rules, rule_version_hash};

/// The text that rules#version-hash prints.
const PACK: &str = r#"[{"floor_bps":1000,"max_bps":10000,"name":"lambda.ack","weak_ceiling_bps":5000},{"bands":["critical","fraud"],"epochs":100,"name":"lambda.ban"},{"critical":8000,"fraud":10000,"minor":1500,"moderate":3000,"name":"lambda.damage","severe":5000},{"arbitration":1000,"commissioning":300,"execution":500,"governance":200,"max_epochs":10000,"name":"lambda.decay","social":100},{"delta":50,"domain":"execution","name":"lambda.event.session_sealed","weight_bps":10000},{"delta":100,"domain":"commissioning","name":"lambda.event.task_commissioned","weight_bps":10000},{"delta":200,"domain":"execution","name":"lambda.event.task_done","unacked_weight_bps":2500},{"name":"lambda.gain_cap","per_epoch_bps":1000},{"arbitrate_arbitration_min":5000,"arbitrate_execution_min":3000,"govern_governance_min":4000,"name":"lambda.gates","parallel_max":20,"stake_floor":1000},{"bands":["fraud"],"keep_bps":5000,"name":"lambda.scar"}]"#;

/// Returns the rule pack, version 1.
fn lambda_rules() -> Vec<Value> {
    vec![
        json!({
            "name": "lambda.ack", "floor_bps": ACK_FLOOR_BPS, "max_bps": ACK_MAX_BPS,
            "weak_ceiling_bps": WEAK_CEILING_BPS,
        }),
        json!({ "name": "lambda.ban", "bands": bands(Band::bans), "epochs": BAN_DURATION_EPOCHS }),
        table("lambda.damage", SEVERITY_BANDS.map(|band| (band.as_str(), damage_for(band)))),
        table("lambda.decay", decay_rates()),
        json!({
            "name": SESSION_SEALED.rule_name, "delta": SESSION_SEALED.nominal_delta,
            "domain": SESSION_SEALED.domain.as_str(), "weight_bps": SESSION_SEALED.weight_bps,
        }),
        json!({
            "name": TASK_COMMISSIONED.rule_name, "delta": TASK_COMMISSIONED.nominal_delta,
            "domain": TASK_COMMISSIONED.domain.as_str(), "weight_bps": TASK_COMMISSIONED.weight_bps,
        }),
        json!({
            "name": TASK_DONE.rule_name, "delta": TASK_DONE.nominal_delta,
            "domain": TASK_DONE.domain.as_str(), "unacked_weight_bps": TASK_DONE.weight_bps,
        }),
        json!({ "name": "lambda.gain_cap", "per_epoch_bps": GAIN_CAP_PER_EPOCH_BPS }),
        json!({
            "name": "lambda.gates", "arbitrate_arbitration_min": ARBITRATE_ARBITRATION_MIN,
            "arbitrate_execution_min": ARBITRATE_EXECUTION_MIN, "govern_governance_min": GOVERN_GOVERNANCE_MIN,
            "parallel_max": PARALLEL_MAX, "stake_floor": STAKE_FLOOR,
        }),
        json!({ "name": "lambda.scar", "bands": bands(Band::scars), "keep_bps": SCAR_KEEP_BPS }),
    ]
}

fn bands(which: fn(Band) -> bool) -> Vec<&'static str> {
    SEVERITY_BANDS.into_iter().filter(|band| which(*band)).map(Band::as_str).collect()
}

fn decay_rates() -> impl Iterator<Item = (&'static str, i64)> {
    let rates = DOMAINS.into_iter().map(|domain| (domain.as_str(), rate_for(domain)));
    rates.chain([("max_epochs", MAX_DECAY_EPOCHS)])
}

/// Makes a rule that maps each key to a number.
fn table(name: &str, numbers: impl IntoIterator<Item = (&'static str, i64)>) -> Value {
    let mut rule = Map::new();
    rule.insert("name".to_owned(), Value::from(name));
    rule.extend(numbers.into_iter().map(|(key, number)| (key.to_owned(), Value::from(number))));
    Value::Object(rule)
}

#[test]
fn the_pack_of_constants_has_the_text_and_hash_of_the_chapter() {
    let rules = lambda_rules();
    assert_eq!(canonical_rules(&rules).unwrap(), PACK);
    assert_eq!(PACK.len(), 910);
    let hash = rule_version_hash(&rules).unwrap();
    assert_eq!(hash.as_str(), "245c4b805d8c805060f738863d241db27a5f9fc5b43988a4a9cc94e99b62ab1c");
    assert_eq!(LAMBDA_RULES_HASH, hash.as_str());
}
