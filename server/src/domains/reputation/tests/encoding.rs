//! Canonical texts and rule hashes (rules#canonical-text, rules#version-hash).

use crate::rules::canonical::canonicalize;
use crate::rules::version::{ENGINE_VERSION, canonical_rules, rule_version_hash};
use colibri_canonical::sha256_hex;
use serde_json::{Value, json};

const EMPTY: &str = "cd60838e180fd08238650ecf24e54990712e9a56f28de9f14eb37e15f3364a37";
const ONE_RULE: &str = "5d7142cf29e66a024f5d2bb0a41eaa655187bcc469b0a65d387fbd890d048d34";

fn hash(rules: &Value) -> String {
    rule_version_hash(rules.as_array().unwrap()).unwrap().as_str().to_owned()
}

fn refused(rules: &Value) -> String {
    rule_version_hash(rules.as_array().unwrap()).unwrap_err().to_string()
}

#[test]
fn the_five_vectors_of_the_encoder() {
    let vectors = [
        (json!([]), "[]", "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
        (json!({}), "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (
            json!({ "b": 1, "a": [true, null, -7] }),
            r#"{"a":[true,null,-7],"b":1}"#,
            "b330e7ae73db282097ea76899f637cb46d98caf5ff055635e8d92f72f3d909c6",
        ),
        (
            json!({ "z": "\u{1}\n\"", "é": 1, "A": 9_999_999_999_999_999_999_u64 }),
            "{\"A\":9999999999999999999,\"z\":\"\\u0001\\n\\\"\",\"é\":1}",
            "174a89f81a8a5ed28e17acfd195143e4a5241c9859a5bc89f572f3610fee9f12",
        ),
        (
            json!({ "\u{e000}": 1, "\u{10000}": 2 }),
            "{\"\u{10000}\":2,\"\u{e000}\":1}",
            "9d4cdc71dda603c42f9b21d88d0c2ffc31a76cd1bd461d7359406cf169845f1e",
        ),
    ];
    for (value, text, digest) in vectors {
        assert_eq!(canonicalize(&value).unwrap(), text);
        assert_eq!(sha256_hex(text.as_bytes()), digest, "{text}");
    }
}

#[test]
fn fractions_are_refused_and_big_integers_stay_digits() {
    let refused = |value: Value| canonicalize(&value).unwrap_err().to_string();
    assert_eq!(refused(json!(1.5)), "CanonicalSerializationError: non-integer number 1.5 at $");
    let inside = json!({ "a": [1, 2, 1.5] });
    assert_eq!(refused(inside), "CanonicalSerializationError: non-integer number 1.5 at $.a[2]");
    let big: Value = serde_json::from_str("9999999999999999999").unwrap();
    assert_eq!(canonicalize(&big).unwrap(), "9999999999999999999");
    assert_eq!(canonicalize(&json!(i64::MIN)).unwrap(), "-9223372036854775808");
    for zero in ["0", "-0", "-0.0", "0e3"] {
        assert_eq!(canonicalize(&serde_json::from_str(zero).unwrap()).unwrap(), "0", "{zero}");
    }
    let nested = (0..129).fold(json!(0), |inner, _| json!([inner]));
    assert!(refused(nested).starts_with("CanonicalSerializationError: nesting deeper than 128 at $[0]"));
}

#[test]
fn an_empty_pack_and_one_rule_have_the_hashes_of_the_chapter() {
    assert_eq!(hash(&json!([])), EMPTY);
    assert_eq!(sha256_hex(b"[]kappa-engine/1.0.0"), EMPTY);
    assert_eq!(hash(&json!([{ "name": "r", "n": 1 }])), ONE_RULE);
    assert_eq!(ENGINE_VERSION, "kappa-engine/1.0.0");
}

#[test]
fn order_and_places_do_not_count_and_numbers_do() {
    let (a, b) = (json!({ "name": "a", "deep": [{ "n": 1 }] }), json!({ "name": "b" }));
    let plain = hash(&json!([a, b]));
    assert_eq!(hash(&json!([b, a])), plain);
    let placed = json!({
        "name": "a", "location": { "line": 1.5 },
        "deep": [{ "location": [1, 2], "n": 1 }],
    });
    assert_eq!(hash(&json!([placed, b])), plain);
    assert_ne!(hash(&json!([{ "name": "a", "deep": [{ "n": 2 }] }, b])), plain);
    assert_ne!(hash(&json!([a])), plain);
    // Names sort by their bytes.
    let rules = [json!({ "name": "a" }), json!({ "name": "B" })];
    assert_eq!(canonical_rules(&rules).unwrap(), r#"[{"name":"B"},{"name":"a"}]"#);
}

#[test]
fn what_has_no_hash_says_why() {
    let refusals = [
        (json!([{ "name": "x" }, { "name": "x" }]), "VersionHashError: two rules are named \"x\""),
        (json!([{ "name": "x" }, { "n": 1 }]), "VersionHashError: rule 1 has no text as its name"),
        (json!([{ "name": 5 }]), "VersionHashError: rule 0 has no text as its name"),
        (json!(["x"]), "VersionHashError: rule 0 is no object"),
        (
            json!([{ "name": "x", "n": 0.5 }]),
            "VersionHashError: CanonicalSerializationError: non-integer number 0.5 at $[0].n",
        ),
    ];
    for (rules, expected) in refusals {
        assert_eq!(refused(&rules), expected);
    }
    let deep = |levels: usize| (0..levels).fold(json!(0), |inner, _| json!([inner]));
    // The list and the rule are two levels more.
    assert!(rule_version_hash(&[json!({ "name": "x", "n": deep(126) })]).is_ok());
    assert_eq!(
        refused(&json!([{ "name": "x", "n": deep(127) }])),
        "VersionHashError: rule 0 nests deeper than 128"
    );
}
