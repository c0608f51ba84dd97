//! What validation leaves behind when it succeeds, and the rules across fields.

use colibri_runtime::schema::{ArrayRule, CrossRule, Pattern, Schema, Shape, StringRule};
use colibri_runtime::validate::{conforms, issues_to_value, validate};
use serde_json::{Value, json};

use crate::schemas::table;

fn normalised(schema: &str, text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    validate(table(schema), &[], &mut value).unwrap_or_else(|issues| panic!("{text}: {issues:?}"));
    value.to_string()
}

#[test]
fn integral_floats_become_integers() {
    assert_eq!(
        normalised("integers", r#"{"n":10.0,"any":1e1,"step":-0.0}"#),
        r#"{"n":10,"any":10,"step":0}"#
    );
    assert_eq!(
        normalised("integers", r#"{"n":-0,"any":-9007199254740991}"#),
        r#"{"n":0,"any":-9007199254740991}"#
    );
    assert_eq!(
        normalised("enums", r#"{"status":"A","level":2.0,"mixed":-1.0}"#),
        r#"{"status":"A","level":2,"mixed":-1}"#
    );
    assert_eq!(
        normalised("arrays", r#"{"tags":["a"],"grid":[[1.0],[]]}"#),
        r#"{"tags":["a"],"grid":[[1],[]]}"#
    );
    assert_eq!(normalised("records", r#"{"scores":{"aa":3.0}}"#), r#"{"scores":{"aa":3}}"#);
    assert_eq!(normalised("unions", r#"{"either":3.0}"#), r#"{"either":3}"#);
}

static LAST_BUT_TWO_THOUSAND: Pattern = Pattern::new("a[ab]{2000}c");
static TEXTS: Schema = Schema {
    shape: Shape::Array(&ArrayRule {
        items: Schema {
            shape: Shape::String(StringRule { min: None, max: None, pattern: Some(&LAST_BUT_TWO_THOUSAND) }),
            nullable: false,
            message: None,
        },
        min: None,
        max: None,
        unique: false,
    }),
    nullable: false,
    message: None,
};

#[test]
fn a_value_whose_patterns_take_too_many_steps_is_refused_and_says_so() {
    let text: String =
        (0_u32..50_000).map(|n| if n.wrapping_mul(2_654_435_761) >> 31 == 0 { 'a' } else { 'b' }).collect();
    // One budget serves all texts of a value together.
    let some: Vec<&str> = (0..25_000).step_by(1_000).map(|from| &text[from..from + 25_000]).collect();
    for mut value in [json!([text]), json!(some)] {
        let refused = issues_to_value(&validate(&TEXTS, &[], &mut value).unwrap_err());
        let last = refused.as_array().unwrap().last().unwrap();
        assert_eq!(last["code"], "custom");
        assert_eq!(last["message"], "The text takes too long to match with /a[ab]{2000}c/");
    }
    let mut sound = json!([format!("a{}c", "b".repeat(2_000))]);
    assert!(validate(&TEXTS, &[], &mut sound).is_ok());
}

#[test]
fn numbers_that_may_be_fractions_stay_as_they_are() {
    assert_eq!(normalised("numbers", r#"{"share":1.0}"#), r#"{"share":1.0}"#);
    assert_eq!(
        normalised("nested", r#"{"owner":{"name":"n"},"anything":2.0,"more":3.0}"#),
        r#"{"owner":{"name":"n"},"anything":2.0,"more":3.0}"#
    );
}

#[test]
fn defaults_stand_at_their_declared_place() {
    assert_eq!(
        normalised("defaults", r#"{"n":1}"#),
        r#"{"order":"A","n":1,"limit":5,"filter":{"deep":false}}"#
    );
    assert_eq!(
        normalised("defaults", r#"{"filter":{"x":1,"note":"y"},"n":2.0}"#),
        r#"{"order":"A","n":2,"limit":5,"filter":{"note":"y","deep":true,"x":1}}"#
    );
    assert_eq!(
        normalised("defaults", r#"{"limit":7,"n":1,"order":"B","filter":{"deep":true}}"#),
        r#"{"limit":7,"n":1,"order":"B","filter":{"deep":true}}"#
    );
}

#[test]
fn defaults_of_the_branch_that_matches_are_put_in() {
    assert_eq!(
        normalised("unions", r#"{"either":"x","shape":{"kind":"B"}}"#),
        r#"{"either":"x","shape":{"kind":"B","n":3}}"#
    );
}

#[test]
fn refused_arguments_stay_as_received() {
    let received = json!({"limit": 1.0, "n": "x"});
    let mut value = received.clone();
    assert!(validate(table("defaults"), &[], &mut value).is_err());
    assert_eq!(value.to_string(), received.to_string());
}

#[test]
fn output_check_does_not_normalise() {
    assert!(conforms(table("integers"), &json!({"n": 1})));
    assert!(!conforms(table("integers"), &json!({"n": 11})));
    assert!(conforms(table("defaults"), &json!({"n": 1})));
}

fn rule_issues(rules: &[CrossRule], mut value: Value) -> Value {
    issues_to_value(&validate(table("nested"), rules, &mut value).err().unwrap_or_default())
}

fn sound(extra: Value) -> Value {
    let mut value = json!({"owner": {"name": "n"}, "anything": null});
    value.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    value
}

#[test]
fn alias_must_equal_its_field() {
    let rules =
        [CrossRule::AliasEqual { field: "project_id", alias: "project", message: "must equal project_id" }];
    assert_eq!(rule_issues(&rules, sound(json!({"project_id": "a", "project": "a"}))), json!([]));
    assert_eq!(rule_issues(&rules, sound(json!({"project_id": [1], "project": [1.0]}))), json!([]));
    assert_eq!(rule_issues(&rules, sound(json!({"project": "b"}))), json!([]));
    assert_eq!(
        rule_issues(&rules, sound(json!({"project_id": "a", "project": "b"}))),
        json!([{"code": "custom", "path": ["project"], "message": "must equal project_id"}])
    );
}

#[test]
fn field_excludes_others() {
    let rules =
        [CrossRule::Either { field: "all", others: &["ids", "tag"], message: "not together with all" }];
    assert_eq!(rule_issues(&rules, sound(json!({"ids": 1, "tag": 2}))), json!([]));
    assert_eq!(
        rule_issues(&rules, sound(json!({"all": 1, "tag": 2, "ids": 3}))),
        json!([
            {"code": "custom", "path": ["ids"], "message": "not together with all"},
            {"code": "custom", "path": ["tag"], "message": "not together with all"},
        ])
    );
}

#[test]
fn byte_limit_counts_bytes() {
    let rules = [CrossRule::MaxBytes { field: "anything", limit: 4, message: "at most 4 bytes" }];
    assert_eq!(rule_issues(&rules, sound(json!({"anything": "éé"}))), json!([]));
    assert_eq!(
        rule_issues(&rules, sound(json!({"anything": "ééa"}))),
        json!([{"code": "custom", "path": ["anything"], "message": "at most 4 bytes"}])
    );
}

#[test]
fn field_needs_another() {
    let rules = [CrossRule::Needs { field: "anything", other: "beside", message: "only with beside" }];
    assert_eq!(rule_issues(&rules, sound(json!({"beside": 1}))), json!([]));
    assert_eq!(rule_issues(&rules, sound(json!({"anything": 1, "beside": null}))), json!([]));
    assert_eq!(
        rule_issues(&rules, sound(json!({"anything": 1}))),
        json!([{"code": "custom", "path": ["anything"], "message": "only with beside"}])
    );
}

#[test]
fn nul_is_found_in_values_and_keys() {
    let rules = [CrossRule::NoNul { message: "must not hold U+0000" }];
    assert_eq!(rule_issues(&rules, sound(json!({"x": ["a", {"b": "c"}]}))), json!([]));
    let found = rule_issues(&rules, sound(json!({"anything": ["a", {"b": "\u{0}"}], "k\u{0}": 1})));
    assert_eq!(
        found,
        json!([
            {"code": "custom", "path": ["anything", 1, "b"], "message": "must not hold U+0000"},
            {"code": "custom", "path": ["k\u{0}"], "message": "must not hold U+0000"},
        ])
    );
}

#[test]
fn rules_wait_for_a_sound_structure() {
    let rules = [CrossRule::NoNul { message: "must not hold U+0000" }];
    let issues = rule_issues(&rules, json!({"owner": {"name": "\u{0}"}}));
    assert_eq!(issues.as_array().unwrap().len(), 1);
    assert_eq!(issues[0]["code"], "invalid_type");
}
