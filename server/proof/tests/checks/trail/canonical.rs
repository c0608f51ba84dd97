//! Canonical JSON as the trail uses it (trail#canonical-json). The vectors K1 to K7 are the runtime's own tests'.

use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use serde_json::{Number, Value, json};

/// Vector K8, written in another order than the canonical one.
fn routing_decision() -> Value {
    json!({
        "type": "routing_decision", "routing_mode": "single", "chosen_model_id": "claude",
        "candidates_considered": ["claude"], "scores": {"claude": 1.0}, "fallback_attempts": 0,
        "rule_version_hash": format!("rv:sha256:{}", "a".repeat(64)), "decision_hash": "b".repeat(64),
    })
}

#[test]
fn a_routing_decision_is_written_as_vector_k8() {
    let text = canonical_json(&routing_decision(), NumberRule::Trail).unwrap();
    let start = r#"{"candidates_considered":["claude"],"chosen_model_id":"claude","decision_hash":"bb"#;
    let end = r#""routing_mode":"single","rule_version_hash":"rv:sha256:"#;
    assert!(text.starts_with(start) && text.contains(end), "{text}");
    assert!(text.ends_with(r#""scores":{"claude":1},"type":"routing_decision"}"#), "{text}");
    assert_eq!(
        sha256_hex(text.as_bytes()),
        "f2ea48be933b02a9793825c148b9d7e22629b8ca59f47a3be30cd5b052b52652"
    );
}

#[test]
fn numbers_without_an_exact_form_are_refused() {
    let refused = |value: Value| canonical_json(&value, NumberRule::Trail).unwrap_err().code();
    assert_eq!(refused(json!(9_007_199_254_740_992_i64)), "UNSAFE_INTEGER");
    assert_eq!(refused(json!(-9_007_199_254_740_992_i64)), "UNSAFE_INTEGER");
    assert_eq!(refused(json!(u64::MAX)), "UNSAFE_INTEGER");
    for edge in [9_007_199_254_740_991_i64, -9_007_199_254_740_991] {
        assert_eq!(canonical_json(&json!(edge), NumberRule::Trail).unwrap(), edge.to_string());
    }
    // JSON has no numbers but finite ones, so the encoder never meets these.
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Number::from_f64(number), None);
    }
}

#[test]
fn nested_arrays_are_refused_and_128_are_not() {
    let nested = |levels: usize| (1..levels).fold(json!([]), |inner, _| json!([inner]));
    assert!(canonical_json(&nested(128), NumberRule::Trail).is_ok());
    assert_eq!(canonical_json(&nested(129), NumberRule::Trail).unwrap_err().code(), "TOO_DEEP");
}

#[test]
fn every_byte_is_escaped_wherever_it_stands() {
    for byte in 0..128_u8 {
        for at in 0..100 {
            let mut content = "é".repeat(20) + &"x".repeat(60);
            let at = if content.is_char_boundary(at) { at } else { at + 1 };
            content.insert(at, char::from(byte));
            let mut written = Vec::new();
            colibri_canonical::object::text(&mut written, b"", Some(&content));
            let general = canonical_json(&json!(content), NumberRule::Trail).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), general, "byte {byte} at {at}");
        }
    }
}
