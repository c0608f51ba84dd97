//! A comparison ends in bounded work, and says so when a person must look. Work is counted; what is not is timed.

use std::fmt::Write;
use std::time::{Duration, Instant};

use colibri_drift::schema::{Direction, SchemaChange};
use colibri_drift::{Severity, compare_schemas as compare, work_of_schemas as work};
use serde_json::{Map, Value, json};

/// What a comparison may spend at most, and a little more for what it finishes.
const MOST: u64 = 250_000;

/// What is said where a person must look.
const FOR_A_PERSON: &str = "a person must look";

/// Definitions of which each is made of two references to the next; the last is `leaf`.
fn levels(number: usize, leaf: &Value, level: &dyn Fn(Value, Value) -> Value) -> Value {
    let mut defs = Map::new();
    for at in 0..number {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        defs.insert(format!("d{at}"), level(next.clone(), next));
    }
    defs.insert(format!("d{number}"), leaf.clone());
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs })
}

fn both(old: &Value, new: &Value) -> (u64, Vec<SchemaChange>) {
    (work(old, new, Direction::Input), compare(old, new, Direction::Input))
}

#[test]
fn a_graph_that_branches_at_each_level_costs_each_level_once() {
    let union = |one: Value, other: Value| json!({ "anyOf": [one, other] });
    let mut costs = Vec::new();
    for number in [8, 16, 24] {
        let old = levels(number, &json!({ "type": "string", "maxLength": 9 }), &union);
        let new = levels(number, &json!({ "type": "string", "maxLength": 8 }), &union);
        let (spent, changes) = both(&old, &new);
        costs.push(spent);
        let found: Vec<_> = changes.iter().map(|change| (change.rule, change.severity)).collect();
        assert_eq!(found, [("I7", Severity::Break)], "{number}: {changes:#?}");
    }
    assert!(costs[2] < 10 * costs[0], "{costs:?}");
}

#[test]
fn what_differs_in_one_definition_is_told_once_with_its_places() {
    let members =
        |one: Value, other: Value| json!({ "type": "object", "properties": { "l": one, "r": other } });
    for number in [10, 24] {
        let old = levels(number, &json!({ "type": "string", "maxLength": 9 }), &members);
        let new = levels(number, &json!({ "type": "string", "maxLength": 8 }), &members);
        let (spent, changes) = both(&old, &new);
        assert!(spent < MOST, "{number}: {spent}");
        let [change] = &changes[..] else { panic!("{number}: {changes:#?}") };
        assert_eq!((change.rule, change.severity), ("I7", Severity::Break));
        let depth = number - 1;
        let place = format!("a{}", ".l".repeat(depth));
        let told = format!(
            "a bound of `{place}.l`: `maxLength 9` became `maxLength 8`; the same definition is used for `{place}.r`, "
        );
        assert!(change.message.starts_with(&told), "{}", change.message);
    }
    // A definition that refers to itself, at two places.
    let tree = |limit: u32| {
        let own = || json!({ "$ref": "#/$defs/tree" });
        let tree = json!({ "type": "object", "properties":
            { "and": { "type": "array", "items": own() }, "not": own(), "op": { "type": "string", "maxLength": limit } } });
        json!({ "type": "object", "properties": { "filter": own(), "having": own() }, "$defs": { "tree": tree } })
    };
    let (_, changes) = both(&tree(9), &tree(8));
    let told: Vec<_> = changes.iter().map(|change| (&*change.pointer, &*change.message)).collect();
    assert_eq!(
        told,
        [(
            "/properties/filter/properties/op",
            "a bound of `filter.op`: `maxLength 9` became `maxLength 8`; the same definition is used for `having.op`"
        )]
    );
    assert_eq!(changes[0].places, ["/properties/having/properties/op"]);
    // With a description beside each reference, and through a definition in between.
    let point = |kind: &str| {
        let of = |name: &str, text: &str| json!({ "$ref": format!("#/$defs/{name}"), "description": text });
        json!({ "type": "object", "properties": { "from": of("A", "From."), "to": of("A", "To."), "way": of("B", "By.") },
            "$defs": { "A": { "type": kind }, "B": { "type": "object", "properties": { "via": of("A", "Via.") } } } })
    };
    let (_, changes) = both(&point("string"), &point("integer"));
    let [change] = &changes[..] else { panic!("{changes:#?}") };
    assert_eq!(change.places, ["/properties/to", "/properties/way/properties/via"]);
    assert!(
        change.message.ends_with("; the same definition is used for `to`, `way.via`"),
        "{}",
        change.message
    );
}

#[test]
fn what_differs_in_more_places_than_a_person_reads_is_for_a_person() {
    let wide = |limit: u32| {
        let property =
            |index: u32| (format!("p{index}"), json!({ "type": "string", "maxLength": limit + index }));
        json!({ "type": "object", "properties": (0..150).map(property).collect::<serde_json::Map<_, _>>() })
    };
    let (spent, changes) = both(&wide(9), &wide(8));
    assert!(spent < MOST, "{spent}");
    let told = changes.iter().find(|change| change.message.contains(FOR_A_PERSON));
    assert_eq!(told.map(|change| change.severity), Some(Severity::Ack));
}

#[test]
fn schemas_that_no_proof_gets_through_end_in_bounded_work() {
    let leaf = |limit: u32| json!({ "type": "string", "maxLength": limit });
    let shapes: [&dyn Fn(Value, Value) -> Value; 4] = [
        &|one, other| json!({ "oneOf": [one, { "type": "object", "properties": { "x": other } }] }),
        &|one, other| json!({ "allOf": [{ "anyOf": [one, { "type": "null" }] }, { "not": { "not": other } }] }),
        &|one, other| {
            json!({ "type": "object", "required": ["l", "r"], "additionalProperties": false,
            "properties": { "l": { "anyOf": [one, { "type": "integer" }] }, "r": other } })
        },
        &|one, other| json!({ "type": "array", "items": { "oneOf": [one, { "type": "array", "items": other }] } }),
    ];
    for (index, shape) in shapes.iter().enumerate() {
        let (old, new) = (levels(24, &leaf(9), shape), levels(24, &leaf(8), shape));
        let (spent, changes) = both(&old, &new);
        assert!(spent < MOST, "{index}: {spent}");
        assert!(changes.iter().any(|change| change.severity >= Severity::Ack), "{index}: {changes:#?}");
    }
}

#[test]
fn schemas_that_refer_to_themselves_on_the_same_value_end() {
    let next = json!({ "$ref": "#/$defs/n" });
    let form = |extra: Value| json!({ "type": "object", "required": ["next"], "properties": { "next": next, "v": extra } });
    let recursive = |limit: u32| {
        json!({ "$ref": "#/$defs/n", "$defs": {
            "n": { "oneOf": [form(json!({ "type": "integer" })), form(json!({ "type": "string", "maxLength": limit })), next, next] },
        } })
    };
    let (spent, changes) = both(&recursive(9), &recursive(8));
    assert!(spent < MOST, "{spent}");
    assert!(changes.iter().any(|change| change.severity >= Severity::Ack), "{changes:#?}");
}

#[test]
fn a_long_way_of_references_is_for_a_person() {
    for number in [60, 5_000] {
        let one = |next: Value, _: Value| json!({ "type": "object", "properties": { "n": next } });
        let old = levels(number, &json!({ "type": "string", "maxLength": 9 }), &one);
        let new = levels(number, &json!({ "type": "string", "maxLength": 8 }), &one);
        let (spent, changes) = both(&old, &new);
        assert!(spent < MOST, "{number}: {spent}");
        assert!(changes.iter().any(|change| change.severity >= Severity::Ack), "{number}: {changes:#?}");
    }
    let mut plain = levels(0, &json!({ "type": "string" }), &|one, _| one);
    for at in 0..5_000 {
        plain["$defs"][format!("d{at}")] = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
    }
    plain["$defs"]["d5000"] = json!({ "type": "string", "maxLength": 9 });
    let mut shorter = plain.clone();
    shorter["$defs"]["d5000"] = json!({ "type": "string", "maxLength": 8 });
    let (_, changes) = both(&plain, &shorter);
    assert!(changes.iter().any(|change| change.severity >= Severity::Ack), "{changes:#?}");
}

#[test]
fn a_list_of_many_values_costs_as_much_as_it_is_long() {
    let list = |number: u32, kind: &str| {
        let values: Vec<Value> = (0..number).map(Value::from).collect();
        let choices = match kind {
            "enum" => json!({ "enum": values }),
            kind => json!({ kind: values.iter().map(|value| json!({ "const": value })).collect::<Vec<_>>() }),
        };
        json!({ "type": "object", "properties": { "a": choices } })
    };
    for kind in ["enum", "anyOf"] {
        let cost = |number| {
            let (spent, changes) = both(&list(number + 1, kind), &list(number, kind));
            let found: Vec<_> = changes.iter().map(|change| (change.rule, change.severity)).collect();
            assert_eq!(found, [("I6", Severity::Break)], "{kind}: {changes:#?}");
            spent
        };
        let (few, many) = (cost(1_000), cost(10_000));
        assert!(many < 15 * few, "{kind}: {few} {many}");
    }
}

/// What comes first in a list of 50,000 names is reported, and what affects security at any place. A name costs no more than in a list of
/// a tenth: the slack is for the machine's other work.
#[test]
fn many_names_are_compared_in_linear_time_and_the_first_are_told() {
    let names = |number: u32| (0..number).map(|index| format!("r{index}"));
    let required = |number| json!({ "type": "object", "required": names(number).collect::<Vec<_>>() });
    let properties = |number| {
        let given = names(number).map(|name| (name, json!({ "type": "string" })));
        let secret = ("zz_password".to_owned(), json!({ "type": "string" }));
        json!({ "type": "object", "properties": given.chain([secret]).collect::<Map<_, _>>() })
    };
    let shapes: [(&str, &dyn Fn(u32) -> Value); 2] = [("required", &required), ("properties", &properties)];
    for (shape, form) in shapes {
        for direction in [Direction::Input, Direction::Output] {
            let took = |number| {
                let (old, new) = (json!({ "type": "object" }), form(number));
                let began = Instant::now();
                let changes = compare(&old, &new, direction);
                assert!(changes.len() <= 102, "{shape}: {}", changes.len());
                assert!(changes.iter().any(|change| change.message.contains(FOR_A_PERSON)), "{shape}");
                let secret = changes.iter().any(|change| change.security);
                assert_eq!(secret, shape == "properties" && direction == Direction::Input, "{shape}");
                began.elapsed()
            };
            let (few, many) = (took(5_000), took(50_000));
            assert!(many < 40 * few + Duration::from_secs(2), "{shape} {direction:?}: {few:?} {many:?}");
        }
    }
}

#[test]
fn published_schemas_are_far_from_the_bound() {
    let mut text = String::new();
    for server in super::history::servers() {
        let folder = super::here().join("history").join(&server);
        for step in super::history::versions(&folder).windows(2) {
            let [old, new] = step else { unreachable!() };
            let state = |version: &str| super::snapshot(&folder.join(format!("{version}.json")));
            let (old, new) = (state(old), state(new));
            for tool in &new.tools {
                let Some(before) = old.tools.iter().find(|before| before.name == tool.name) else { continue };
                let spent = work(&before.input, &tool.input, Direction::Input);
                if spent > MOST / 5 {
                    writeln!(text, "{server} {}: {spent}", tool.name).unwrap();
                }
            }
        }
    }
    assert_eq!(text, "");
}
