//! The issue list of catalogue#validation, case by case from a fixture, and the limits around it.

use colibri_runtime::validate::{Issue, MAX_ISSUES, PathPart, issues_to_value, validate};
use serde_json::{Value, json};

use crate::schemas::table;

fn issues_of(schema: &str, mut input: Value) -> Vec<Issue> {
    validate(table(schema), &[], &mut input).err().unwrap_or_default().listed
}

#[test]
fn issues_equal_the_fixture_members_in_order() {
    let fixture: Value = serde_json::from_str(include_str!("../vectors/issues.json")).unwrap();
    let cases = fixture["cases"].as_array().unwrap();
    assert!(cases.len() >= 25);
    for case in cases {
        let issues = issues_of(case["schema"].as_str().unwrap(), case["input"].clone());
        // As text, because the order of members counts.
        assert_eq!(issues_to_value(&issues).to_string(), case["issues"].to_string(), "{case}");
    }
}

#[test]
fn a_path_leads_from_the_root() {
    let issues = issues_of("prompt", json!({"prompt": "", "apiKey": "x"}));
    assert_eq!(issues[0].path, [PathPart::Key("prompt".into())]);
    assert_eq!(issues[1].code, "unrecognized_keys");
}

#[test]
fn unknown_key() {
    let issues = issues_of("empty", json!({"x": 1}));
    assert_eq!(
        issues_to_value(&issues),
        json!([{"code": "unrecognized_keys", "keys": ["x"], "path": [], "message": "Unrecognized key: \"x\""}])
    );
}

#[test]
fn fifty_issues_are_listed_and_the_others_counted() {
    let items: Vec<Value> = (0..200_000).map(|_| json!("")).collect();
    let mut input = json!({"tags": items, "more": 1});
    let issues = validate(table("arrays"), &[], &mut input).unwrap_err();
    assert_eq!(issues.len(), MAX_ISSUES);
    // The list is too long as well, and there is no `more`.
    assert!(issues.more >= 200_001 - MAX_ISSUES, "{}", issues.more);
}

#[test]
fn received_values_are_never_echoed() {
    let secret = "s3cr3t-value";
    for schema in
        ["texts", "integers", "numbers", "enums", "arrays", "nested", "records", "unions", "defaults"]
    {
        let fields = [
            "title", "code", "note", "named", "n", "any", "step", "share", "above", "below", "status",
            "level", "only", "mixed", "flag", "nothing", "tags", "grid", "owner", "scores", "labels",
            "either", "one", "shape", "order", "limit", "filter",
        ];
        for field in fields {
            for value in [json!(secret), json!([secret]), json!({"kk": secret})] {
                let text = issues_to_value(&issues_of(schema, json!({ field: value }))).to_string();
                assert!(!text.contains(secret), "{schema}.{field}: {text}");
            }
        }
    }
}
