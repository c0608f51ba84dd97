//! Each rule about schemas: a change that fires it, with what is said of it, and a near miss that does not.
//!
//! A folder of `tests/gate/schema` is a rule. `UPDATE_GOLDEN=1` writes `expected.txt` anew.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use colibri_drift::compare_schemas as compare;
use colibri_drift::schema::{Direction, SchemaChange};
use colibri_drift::{RULES, Rule, Severity};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gate/schema")
}

fn schema(rule: &str, name: &str) -> Value {
    let path = folder().join(rule).join(name);
    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

fn direction(rule: &str) -> Direction {
    if rule.starts_with('i') { Direction::Input } else { Direction::Output }
}

fn rules() -> Vec<String> {
    let mut rules: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    rules.sort();
    rules
}

fn text(changes: &[SchemaChange]) -> String {
    let mut text = String::new();
    for change in changes {
        let security = if change.security { " S" } else { "" };
        let pointer = if change.pointer.is_empty() { "/" } else { &change.pointer };
        writeln!(text, "{} {}{security} {pointer}: {}", change.severity, change.rule, change.message)
            .unwrap();
        if let Some(witness) = &change.witness {
            writeln!(text, "    witness {witness}").unwrap();
        }
    }
    text
}

/// The independent judge: the side that gives takes the witness, the other refuses it.
fn confirm(old: &Value, new: &Value, direction: Direction, changes: &[SchemaChange]) {
    let validator = |schema| jsonschema::draft202012::new(schema).unwrap();
    let (giver, taker) = match direction {
        Direction::Input => (validator(old), validator(new)),
        Direction::Output => (validator(new), validator(old)),
    };
    for change in changes {
        if let Some(witness) = &change.witness {
            assert!(giver.is_valid(witness) && !taker.is_valid(witness), "{}: {witness}", change.rule);
        }
    }
}

#[test]
fn every_rule_fires_on_its_change() {
    for rule in rules() {
        let (old, new) = (schema(&rule, "old.json"), schema(&rule, "new.json"));
        let changes = compare(&old, &new, direction(&rule));
        confirm(&old, &new, direction(&rule), &changes);
        let id = rule.to_uppercase();
        assert!(rule == "i14" || changes.iter().any(|change| change.rule == id), "{rule}: {changes:#?}");
        let (found, path) = (text(&changes), folder().join(&rule).join("expected.txt"));
        super::golden(&path, &found);
    }
}

#[test]
fn no_rule_fires_on_its_near_miss() {
    for rule in rules() {
        let (old, new) = (schema(&rule, "near_miss_old.json"), schema(&rule, "near_miss_new.json"));
        let changes = compare(&old, &new, direction(&rule));
        confirm(&old, &new, direction(&rule), &changes);
        if rule == "i14" {
            assert_eq!(changes.iter().map(|change| change.rule).collect::<Vec<_>>(), ["I7"]);
        } else {
            let id = rule.to_uppercase();
            assert!(changes.iter().all(|change| change.rule != id), "{rule}: {changes:#?}");
        }
    }
}

#[test]
fn every_rule_about_schemas_has_a_folder() {
    let about_schemas = |rule: &&Rule| {
        let number: u32 = rule.id[1..].parse().unwrap();
        rule.id.starts_with('I') && number != 16 || rule.id.starts_with('O') && number < 10
    };
    let ids: BTreeSet<String> =
        RULES.iter().filter(about_schemas).map(|rule| rule.id.to_lowercase()).collect();
    assert_eq!(ids, rules().into_iter().collect());
}

#[test]
fn what_may_mean_something_else_elsewhere_is_for_a_person() {
    let object = |x: Value, defs: Value| json!({ "type": "object", "properties": { "x": x }, "$defs": defs });
    let led = |kind: &str| {
        object(json!({ "$dynamicRef": "#n" }), json!({ "n": { "$dynamicAnchor": "n", "type": kind } }))
    };
    let based = |kind: &str| {
        let inner = json!({ "$id": "https://e/n", "$ref": "#/$defs/A", "$defs": { "A": { "type": kind } } });
        object(inner, json!({ "A": { "type": "string" } }))
    };
    let in_draft_7 = |schema: &Value| {
        let mut schema = schema.clone();
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema
    };
    let beside = object(json!({ "$ref": "#/$defs/A", "maxLength": 3 }), json!({ "A": { "type": "string" } }));
    let list = object(json!({ "type": "array", "prefixItems": [{ "type": "string" }] }), json!({}));
    for (old, new, told) in [
        (led("string"), led("integer"), "`$dynamicRef` leads to"),
        (based("string"), based("integer"), "an `$id` of their own"),
        (in_draft_7(&beside), beside, "`$ref` may mean something else with another `$schema`"),
        (list.clone(), in_draft_7(&list), "`prefixItems` may mean something else"),
    ] {
        for direction in [Direction::Input, Direction::Output] {
            let changes = compare(&old, &new, direction);
            assert!(
                changes
                    .iter()
                    .any(|change| change.severity == Severity::Ack && change.message.contains(told)),
                "{told}: {changes:#?}"
            );
        }
    }
    // A library that stops writing the dialect changes nothing by that alone.
    let plain =
        object(json!({ "$ref": "#/$defs/A", "description": "One." }), json!({ "A": { "type": "string" } }));
    assert!(
        compare(&in_draft_7(&plain), &plain, Direction::Input)
            .iter()
            .all(|change| change.severity == Severity::Info)
    );
}

#[test]
fn a_break_has_a_witness() {
    for rule in rules() {
        let (old, new) = (schema(&rule, "old.json"), schema(&rule, "new.json"));
        for change in compare(&old, &new, direction(&rule)) {
            let needs = change.severity == Severity::Break && change.rule != "I12";
            assert!(!needs || change.witness.is_some(), "{rule}: {change:?}");
        }
    }
}
