//! What is said of refused arguments, kind by kind.

use colibri_runtime::spec::{Pattern, Runs, ToolSpec};
use colibri_runtime::validate::{Refusal, invalid_params, validate};
use serde_json::{Value, json};

use crate::schemas::table;

fn refusal_of(schema: &str, sensitive: &'static [&'static str], mut input: Value) -> Refusal {
    let tool = ToolSpec {
        name: "t",
        domain: "demo",
        toolset: None,
        pattern: Pattern::A,
        runs: Runs::Free { changes: false },
        early: false,
        sensitive,
        input: table(schema),
        rules: &[],
        output: table("empty"),
        codes: &[],
        listing: "",
        relaxed: None,
    };
    let issues = validate(tool.input, tool.rules, &mut input).unwrap_err();
    invalid_params("Invalid parameters for {tool}: {problems}", &tool, &input, &issues)
}

fn problems(schema: &str, input: Value) -> String {
    let message = refusal_of(schema, &[], input).message;
    message.strip_prefix("Invalid parameters for t: ").unwrap().to_owned()
}

#[test]
fn each_kind_of_issue_has_its_words() {
    let long = "x".repeat(100);
    for (schema, input, words) in [
        ("texts", json!({}), r#""title" is missing"#),
        ("enums", json!({}), r#""status" is missing and must be one of A or B"#),
        ("empty", json!([]), "the arguments must be an object, and a list came"),
        ("texts", json!({ "title": 5 }), r#""title" must be a string, and a number came"#),
        (
            "texts",
            json!({ "title": "ab", "note": true }),
            r#""note" must be a string or null, and a boolean came"#,
        ),
        ("texts", json!({ "title": "abcdef" }), r#""title" must have at most 5 characters, and 6 came"#),
        ("texts", json!({ "title": "ö" }), r#""title" must have at least 2 characters, and 1 came"#),
        ("prompt", json!({ "prompt": "" }), r#""prompt" must have at least 1 character, and 0 came"#),
        ("texts", json!({ "title": "   " }), r#""title" must not be blank"#),
        ("texts", json!({ "title": "ab", "named": "x" }), r#""named": must be three letters"#),
        ("integers", json!({ "n": 1.5 }), r#""n" must be a whole number, and 1.5 came"#),
        ("integers", json!({ "n": "five" }), r#""n" must be a whole number, and "five" came"#),
        ("integers", json!({ "n": [] }), r#""n" must be a whole number, and a list came"#),
        ("integers", json!({ "n": 11 }), r#""n" must be at most 10, and 11 came"#),
        (
            "integers",
            json!({ "n": 1, "any": 9_007_199_254_740_992_i64 }),
            r#""any" must be at most 9007199254740991, and 9007199254740992 came"#,
        ),
        ("integers", json!({ "n": 1, "step": 7 }), r#""step" must be a multiple of 5, and 7 came"#),
        ("numbers", json!({ "share": -0.5 }), r#""share" must be at least 0, and -0.5 came"#),
        ("numbers", json!({ "share": 0, "above": 0 }), r#""above" must be more than 0, and 0 came"#),
        ("numbers", json!({ "share": 0, "below": 2.5 }), r#""below" must be less than 2.5, and 2.5 came"#),
        ("enums", json!({ "status": { "a": 1 } }), r#""status" must be one of A or B, and an object came"#),
        ("enums", json!({ "status": "A", "only": "B" }), r#""only" must be A, and "B" came"#),
        ("enums", json!({ "status": "A", "level": 3 }), r#""level" must be one of 1, 2 or null, and 3 came"#),
        ("enums", json!({ "status": "A", "flag": "yes" }), r#""flag" must be true or false, and "yes" came"#),
        ("enums", json!({ "status": "A", "nothing": 1 }), r#""nothing" must be null, and a number came"#),
        ("arrays", json!({ "tags": [] }), r#""tags" must have at least 1 item, and 0 came"#),
        ("arrays", json!({ "tags": ["a", "a"] }), r#""tags" must hold no item twice"#),
        (
            "arrays",
            json!({ "tags": ["a"], "grid": [[0], [0, -1]] }),
            r#""grid[1][1]" must be at least 0, and -1 came"#,
        ),
        (
            "nested",
            json!({ "owner": { "name": "n", "home": {} }, "anything": 1 }),
            r#""owner.home.city" is missing"#,
        ),
        ("records", json!({ "scores": { "UP": 1 } }), r#"the name "scores.UP" must match ^[a-z]{2,4}$"#),
        ("records", json!({ "scores": { "up": 11 } }), r#""scores.up" must be at most 10, and 11 came"#),
        (
            "records",
            json!({ "scores": { "aa": 1, "bb": 1, "cc": 1 } }),
            r#""scores" must have at most 2 entries, and 3 came"#,
        ),
        ("unions", json!({ "either": [] }), r#""either" has none of the forms it may have"#),
        ("unions", json!({ "either": 1, "one": 7 }), r#""one" fits more than one of the forms it may have"#),
        (
            "enums",
            json!({ "status": long }),
            &format!(r#""status" must be one of A or B, and "{}…" came"#, &long[..40]),
        ),
    ] {
        assert_eq!(problems(schema, input.clone()), words, "{schema} {input}");
    }
}

#[test]
fn a_misspelt_parameter_is_recognised_and_the_others_are_listed() {
    assert_eq!(
        problems("texts", json!({ "titel": "ab", "zzz": 1, "title": "ab" })),
        "there is no parameter \"titel\", did you mean \"title\"?; there is no parameter \"zzz\". \
         t takes title (required), code, note, named."
    );
    assert_eq!(
        problems("nested", json!({ "owner": { "name": "n", "nmae": 1 }, "anything": 1 })),
        "there is no parameter \"owner.nmae\", did you mean \"owner.name\"? owner takes name (required), home."
    );
    let long = "k".repeat(1_000_000);
    let words = problems("empty", json!({ long: 1 }));
    assert_eq!(words, format!("there is no parameter \"{}…\". t takes no parameters.", "k".repeat(40)));
}

#[test]
fn at_most_eight_problems_are_named() {
    let items: Vec<Value> = (0..200_000).map(|_| json!("")).collect();
    let words = problems("arrays", json!({ "tags": items, "more": 1 }));
    assert_eq!(words.matches("must have").count(), 8);
    assert!(words.ends_with("; and 42 more in details.issues, which leaves out another 199953"), "{words}");
    let unknown: serde_json::Map<String, Value> = (0..10).map(|n| (format!("key_{n}"), json!(1))).collect();
    let words = problems("empty", Value::Object(unknown));
    assert!(words.ends_with("; and 2 more in details.issues. t takes no parameters."), "{words}");
}

#[test]
fn what_is_stored_holds_no_received_value() {
    let refusal =
        refusal_of("enums", &[], json!({ "status": "b", "level": 77, "flag": "yes", "falg": "no" }));
    assert_eq!(
        refusal.stored,
        "Invalid parameters for t: \"status\" must be one of A or B; \"level\" must be one of 1, 2 or null; \
         \"flag\" must be true or false; there is no parameter \"falg\""
    );
}

#[test]
fn of_a_sensitive_argument_nothing_is_shown() {
    for (schema, field, value) in [
        ("enums", "status", json!("a-secret")),
        ("integers", "n", json!(17)),
        ("integers", "n", json!("a-secret")),
        ("texts", "title", json!("a-secret")),
        ("texts", "title", json!(["a-secret"])),
    ] {
        let refusal = refusal_of(schema, &["status", "n", "title"], json!({ field: value }));
        assert!(!refusal.message.contains("came"), "{refusal:?}");
        assert_eq!(refusal.message, refusal.stored);
    }
}
