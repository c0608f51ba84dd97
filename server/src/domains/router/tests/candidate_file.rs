//! The file of candidates (router#candidates, router#bad-candidates): strict, and every fault has its place.

use crate::domains::router::candidate_file::parse;
use crate::domains::router::candidates::SplitPrice;
use crate::domains::router::model_id::ModelId;
use crate::domains::router::rules::Weights;
use serde_json::{Value, json};

fn row() -> Value {
    json!({
        "model_id": "gpt-4o", "provider": "openai", "context_window_tokens": 128_000, "latency_tier": "balanced",
        "cost_bps_per_kilotoken": 44, "domain_fit_profile": 103, "enabled": true,
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut row = row();
    row[key] = value;
    row
}

fn file(row: &Value) -> String {
    json!({ "candidates": [row] }).to_string()
}

#[test]
fn a_row_without_options_gets_their_defaults() {
    let snapshot = parse(&file(&row())).unwrap();
    let row = snapshot.row(ModelId::Gpt4o).unwrap();
    assert_eq!(
        (row.context_window_tokens, row.cost_bps_per_kilotoken, row.domain_fit_profile),
        (128_000, 44, 103)
    );
    assert_eq!((row.reliability_bps, row.split_price), (0, None));
    assert!(row.strengths.is_empty() && row.task_domains.is_empty() && row.enabled);
    assert_eq!(snapshot.weights(), &Weights::default());
}

#[test]
fn a_row_may_say_everything() {
    let mut row = with("reliability_bps", json!(9500.0));
    row["strengths"] = json!(["coding"]);
    row["task_domains"] = json!(["code_review"]);
    row["input_microusd_per_kilotoken"] = json!(0);
    row["output_microusd_per_kilotoken"] = json!(9);
    let weights = json!({
        "task_domain_match": 1, "context_window_fit": 0, "cost_efficiency": 0, "latency_fit": 0, "reliability": 0,
        "skill_match": 0, "operator_preference": 10_000,
    });
    let snapshot = parse(&json!({ "weights": weights, "candidates": [row] }).to_string()).unwrap();
    let row = snapshot.row(ModelId::Gpt4o).unwrap();
    assert_eq!(row.reliability_bps, 9500);
    assert_eq!(row.split_price, Some(SplitPrice { input: 0, output: 9 }));
    assert_eq!(
        (&*row.strengths, &*row.task_domains),
        (&["coding".to_owned()][..], &["code_review".to_owned()][..])
    );
    assert_eq!(snapshot.weights().sum(), 10_001);
    assert!(parse(r#"{"candidates":[]}"#).is_ok(), "a file may say that nobody is to be asked");
}

#[test]
fn a_bad_file_is_refused_with_its_fault() {
    let mut nameless = row();
    nameless.as_object_mut().unwrap().shift_remove("provider");
    let twice = json!({ "candidates": [row(), row()] }).to_string();
    let weights = |text: &str| format!(r#"{{"weights":{text},"candidates":[]}}"#);
    let all =
        r#""task_domain_match":1,"context_window_fit":1,"cost_efficiency":1,"latency_fit":1,"reliability":1"#;
    let cases = [
        ("{".to_owned(), "EOF while parsing"),
        ("{}".to_owned(), "missing field `candidates`"),
        ("[null, []]".to_owned(), "invalid type: sequence, expected an object"),
        (
            r#"{"candidates":[["gpt-4o","openai",1,"fast",1,1,true]]}"#.to_owned(),
            "invalid type: sequence, expected an object",
        ),
        (r#"{"candidates":[],"more":1}"#.to_owned(), "unknown field `more`"),
        (r#"{"candidates":[],"candidates":[]}"#.to_owned(), "duplicate field `candidates`"),
        (r#"{"candidates":[]} x"#.to_owned(), "trailing characters"),
        (file(&nameless), "missing field `provider`"),
        (file(&with("apiKey", json!("x"))), "unknown field `apiKey`"),
        (file(&with("model_id", json!("gpt-5"))), "unknown variant `gpt-5`"),
        (file(&with("latency_tier", json!("Fast"))), "unknown variant `Fast`"),
        (file(&with("enabled", json!(1))), "invalid type: integer `1`, expected a boolean"),
        (
            file(&with("context_window_tokens", json!(0))),
            "candidates[0]: context_window_tokens must be at least 1",
        ),
        (file(&with("context_window_tokens", json!(1.5))), "a fraction where an integer is due"),
        (file(&with("context_window_tokens", json!("1"))), "expected an integer"),
        (file(&with("context_window_tokens", json!(9_007_199_254_740_992_u64))), "an integer beyond 2^53-1"),
        (file(&with("cost_bps_per_kilotoken", json!(-1))), "cost_bps_per_kilotoken must be at least 0"),
        (file(&with("domain_fit_profile", json!(256))), "domain_fit_profile must be 0 to 255"),
        (file(&with("domain_fit_profile", json!(-1))), "domain_fit_profile must be 0 to 255"),
        (file(&with("strengths", json!("coding"))), "expected a sequence"),
        (file(&with("input_microusd_per_kilotoken", json!(1))), "go together"),
        (twice, "candidates[1]: gpt-4o is there already"),
        (weights("{}"), "weights: weight \"task_domain_match\" is missing"),
        (weights(r#"{"a":1,"a":1}"#), "weights: a name is there twice"),
        (weights(&format!(r#"{{{all},"skill_match":1,"operator_preference":10001}}"#)), "must be 0 to 10000"),
    ];
    for (text, fault) in cases {
        let error = parse(&text).unwrap_err();
        assert!(error.contains(fault) && !error.contains('\n'), "{text}\n{error}");
    }
}
