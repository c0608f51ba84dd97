//! Keys and what looks like one, taken out of texts (router#secrets).

use crate::domains::router::redact::Redaction;

#[test]
fn configured_keys_go_whatever_their_shape() {
    let redaction = Redaction::new([" pass-word ", "pass-word-longer", "abc", ""]);
    assert_eq!(redaction.redact("xpass-wordy"), "x[redacted]y");
    assert_eq!(redaction.redact("pass-word-longer"), "[redacted]");
    // Under four characters a key is part of too many words.
    assert_eq!(redaction.redact("abc"), "abc");
}

#[test]
fn shapes_of_keys_go() {
    let redaction = Redaction::default();
    for (text, clean) in [
        ("Authorization: Bearer eyJhbGciOi.J9-_~+/= bad", "Authorization: [redacted] bad"),
        ("authorization: bearer abc", "authorization: [redacted]"),
        ("got sk-ant-api03-xyz_1, sorry", "got [redacted], sorry"),
        ("(sk-proj-1)", "([redacted])"),
        ("AIzaSyA-1234_5 leaked", "[redacted] leaked"),
        ("x-api-key: hunter2 refused", "[redacted] refused"),
        ("X-Api-Key:hunter2", "[redacted]"),
        ("\"x-api-key\": \"hunter2\"", "\"[redacted]\""),
        ("x-goog-api-key: hunter2", "[redacted]"),
        ("/v1/models?key=hunter2&alt=json", "/v1/models?[redacted]&alt=json"),
        ("api_key=hunter2", "api_[redacted]"),
        ("sk-sk-a", "[redacted]"),
        ("é sk-a é", "é [redacted] é"),
    ] {
        assert_eq!(redaction.redact(text), clean, "{text}");
    }
}

#[test]
fn innocent_words_stay() {
    let redaction = Redaction::default();
    for text in [
        "task-force and disk-full",
        "risk-averse",
        "forbearer x",
        "Bearer",
        "Bearer ",
        "sk-",
        "invalid x-api-key",
        "the key = 5",
        "key=",
        "APIzaA",
        "",
        "日本語",
    ] {
        assert_eq!(redaction.redact(text), text);
    }
}

#[test]
fn redacting_twice_changes_nothing_more() {
    let redaction = Redaction::new(["hunter2"]);
    for text in ["Bearer hunter2", "key=hunter2 x-api-key: sk-1", "hunter2hunter2", "x-api-key: [redacted]"] {
        let once = redaction.redact(text);
        assert!(!once.contains("hunter2"), "{once}");
        assert!(!redaction.redact(&once).contains("hunter2"));
    }
}
