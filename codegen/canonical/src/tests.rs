//! Canonical JSON: golden values of the chapters and of RFC 8785, and properties.

#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::*;

const RULES: [NumberRule; 4] = [NumberRule::Wire, NumberRule::Sent, NumberRule::Trail, NumberRule::Exact];

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors.json")).unwrap()
}

fn check(case: &Value, rule: NumberRule) {
    let name = &case["name"];
    let text = canonical_json(&case["value"], rule).unwrap();
    if let Some(expected) = case["text"].as_str() {
        assert_eq!(text, expected, "{name} {rule:?}");
    }
    if let Some(expected) = case["sha256"].as_str() {
        assert_eq!(sha256_hex(text.as_bytes()), expected, "{name} {rule:?}");
    }
}

#[test]
fn golden_texts_and_hashes_hold_under_every_rule() {
    let vectors = vectors();
    let texts = vectors["texts"].as_array().unwrap();
    assert_eq!(texts.len(), 14);
    for case in texts {
        RULES.into_iter().for_each(|rule| check(case, rule));
    }
}

#[test]
fn golden_fractions_hold_where_fractions_are_allowed() {
    for case in vectors()["fractions"].as_array().unwrap() {
        check(case, NumberRule::Wire);
        check(case, NumberRule::Trail);
        let refused = canonical_json(&case["value"], NumberRule::Exact).unwrap_err();
        assert_ne!(refused.code(), "TOO_DEEP");
    }
}

#[test]
fn doubles_print_as_rfc_8785_appendix_b() {
    for pair in vectors()["doubles"].as_array().unwrap() {
        let bits = u64::from_str_radix(pair[0].as_str().unwrap(), 16).unwrap();
        let value = Value::from(f64::from_bits(bits));
        assert_eq!(
            canonical_json(&value, NumberRule::Wire).unwrap(),
            pair[1].as_str().unwrap(),
            "{}",
            pair[0]
        );
    }
}

#[test]
fn kappa_big_integer_is_bare_digits() {
    let value = json!({"z": "\u{1}\n\"", "é": 1, "A": 9_999_999_999_999_999_999_u64});
    let text = canonical_json(&value, NumberRule::Exact).unwrap();
    assert_eq!(text, r#"{"A":9999999999999999999,"z":"\u0001\n\"","é":1}"#);
    assert_eq!(
        sha256_hex(text.as_bytes()),
        "174a89f81a8a5ed28e17acfd195143e4a5241c9859a5bc89f572f3610fee9f12"
    );
}

#[test]
fn rules_differ_as_the_table_says() {
    let big = json!(9_007_199_254_740_992_i64);
    assert_eq!(canonical_json(&big, NumberRule::Wire).unwrap(), "9007199254740992");
    assert_eq!(canonical_json(&big, NumberRule::Exact).unwrap(), "9007199254740992");
    assert_eq!(canonical_json(&big, NumberRule::Trail).unwrap_err().code(), "UNSAFE_INTEGER");
    let low = json!(i64::MIN);
    assert_eq!(canonical_json(&low, NumberRule::Wire).unwrap(), "-9223372036854775808");
    assert_eq!(canonical_json(&low, NumberRule::Trail).unwrap_err().code(), "UNSAFE_INTEGER");
    assert_eq!(
        canonical_json(&json!(9_007_199_254_740_991_i64), NumberRule::Trail).unwrap(),
        "9007199254740991"
    );
    assert_eq!(canonical_json(&json!(1.5), NumberRule::Exact).unwrap_err().code(), "FRACTION");
    assert_eq!(canonical_json(&json!(2.0), NumberRule::Exact).unwrap(), "2");
    // Twenty digits or more reach the encoder rounded, so they are not exact any more.
    let rounded: Value = serde_json::from_str("100000000000000000001").unwrap();
    assert_eq!(canonical_json(&rounded, NumberRule::Exact).unwrap_err().code(), "UNSAFE_INTEGER");
}

#[test]
fn errors_name_the_place() {
    let value = json!({"a": [1, 2, 1.5]});
    let error = canonical_json(&value, NumberRule::Exact).unwrap_err();
    assert_eq!(error.to_string(), "non-integer number 1.5 at $.a[2]");
    let value = json!({"a b": {"": 9_007_199_254_740_993_u64}});
    let error = canonical_json(&value, NumberRule::Trail).unwrap_err();
    assert_eq!(error.to_string(), r#"integer 9007199254740993 beyond ±9007199254740991 at $["a b"][""]"#);
}

#[test]
fn nesting_is_limited_to_128() {
    let nested = |levels: usize| (1..levels).fold(json!([]), |inner, _| json!([inner]));
    for rule in RULES {
        assert_eq!(canonical_json(&nested(128), rule).unwrap().len(), 256);
        let refused = canonical_json(&nested(129), rule).unwrap_err();
        assert!(matches!(refused, CanonicalError::TooDeep { .. }), "{refused}");
        assert!(refused.to_string().starts_with("nesting deeper than 128 at $[0][0]"), "{refused}");
        let objects = (0..129).fold(json!(1), |inner, _| json!({"k": inner}));
        assert_eq!(canonical_json(&objects, rule).unwrap_err().code(), "TOO_DEEP");
    }
}

/// Values on which the rules agree.
fn common() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect())
        }
        leaf => leaf.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn canonical_text_parses_back_to_the_same_value(value in common()) {
        let text = canonical_json(&value, NumberRule::Wire).unwrap();
        let again: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&again, &value);
        prop_assert_eq!(canonical_json(&again, NumberRule::Wire).unwrap(), text);
    }

    #[test]
    fn key_order_does_not_matter_and_rules_agree(value in common()) {
        let text = canonical_json(&value, NumberRule::Wire).unwrap();
        for rule in RULES {
            prop_assert_eq!(&canonical_json(&reversed(&value), rule).unwrap(), &text);
        }
    }

    #[test]
    fn any_double_survives(bits in any::<u64>()) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        let text = canonical_json(&Value::from(double), NumberRule::Wire).unwrap();
        let again: f64 = text.parse().unwrap();
        prop_assert!(again == double);
        // And through this project's parser, which must not be off by a bit.
        let parsed: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical_json(&parsed, NumberRule::Wire).unwrap(), text);
    }

    #[test]
    fn keys_come_in_utf16_order(keys in prop::collection::hash_set("[a-z\u{20ac}\u{e000}\u{fb33}\u{1f600}]{0,3}", 0..8)) {
        let members: Map<String, Value> = keys.iter().map(|key| (key.clone(), Value::Null)).collect();
        let text = canonical_json(&Value::Object(members), NumberRule::Wire).unwrap();
        let again: Map<String, Value> = serde_json::from_str(&text).unwrap();
        let printed: Vec<&String> = again.keys().collect();
        prop_assert!(printed.windows(2).all(|pair| cmp_utf16(pair[0], pair[1]).is_lt()));
    }
}

/// The two numbers of each pair are written alike in a value, and not as they were sent.
#[test]
fn a_number_that_64_bits_do_not_keep_is_written_as_it_was_sent() {
    let sent = |text: &str| canonical_text(text, NumberRule::Sent).unwrap();
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "1000000000000000000000000",
        "12345678901234567890123.50",
        "9007199254740993.0",
        "0.1000000000000000055511151231257827",
        "1e400",
        "-1E+400",
        "1e-400",
        "4.9e-324",
        "1e99999999999999999999",
        "1e-99999999999999999999",
    ] {
        assert!(!keeps_numbers(number), "{number}");
        assert_eq!(sent(number), number);
    }
    let text = r#" {"b":[1e400, 1.50, {"18446744073709551616": 18446744073709551616}], "a\"1e400": 0.1e1} "#;
    assert_eq!(sent(text), r#"{"a\"1e400":1,"b":[1e400,1.5,{"18446744073709551616":18446744073709551616}]}"#);
    for text in ["1.e5000", "01e5000", "1e5000.5", "-", "1e400 1e400", "[1e400,]", r#"{"a":1e400,"a":1}"#] {
        assert_eq!(canonical_text(text, NumberRule::Sent), None, "{text}");
    }
}

#[test]
fn a_number_that_64_bits_keep_is_written_as_before() {
    for number in [
        "18446744073709551615",
        "-9223372036854775808",
        "9007199254740993",
        "9007199254740992.0",
        "0.10000000000000000000",
        "1e24",
        "123456789012345680000.0",
        "-0.0",
        "0e99999999999999999999",
        "5e-324",
        "1.7976931348623157e308",
    ] {
        assert!(keeps_numbers(number), "{number}");
        assert_eq!(canonical_text(number, NumberRule::Sent), canonical_text(number, NumberRule::Wire));
    }
    // No number, however long.
    for text in [r#""18446744073709551616 \" 1e400""#, "1.e5000", "01e5000"] {
        assert!(keeps_numbers(text), "{text}");
    }
}
