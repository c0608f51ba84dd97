//! How long the gate takes on 500 tools of which a tenth changed, and on hostile schemas.
//!
//! ```sh
//! cargo run --release -p colibri-drift --example scale
//! ```

#![allow(clippy::print_stdout)]

use std::time::Instant;

use colibri_drift::schema::Direction;
use colibri_drift::{Snapshot, Unreadable, compare_schemas, from_tools_list, judge, report, work_of_schemas};
use serde_json::{Map, Value, json};

/// The times that each comparison is made; the median counts.
const RUNS: usize = 5;

fn main() -> Result<(), Unreadable> {
    println!("tools  changed  findings      ms");
    for (number, step) in [(125, 10), (250, 10), (500, 10), (500, 1)] {
        let (old, new) = (state(number, None)?, state(number, Some(step))?);
        let mut findings = 0;
        let taken = median(|| {
            let verdict = judge(&old, &new, &[], true);
            findings = verdict.blocking.len() + verdict.listed.len();
            report::headline(&verdict).len()
        });
        println!("{number:5}  {:7}  {findings:8}  {taken:6.1}", number / step);
    }
    println!("\nhostile schema                     work      ms");
    let union = |one: Value, other: Value| json!({ "anyOf": [one, other] });
    let members =
        |one: Value, other: Value| json!({ "type": "object", "properties": { "l": one, "r": other } });
    hostile("union of two references, 24 levels", &|most| levels(24, most, &union));
    hostile("two members each, 24 levels", &|most| levels(24, most, &members));
    hostile("enum of 20,000 integers", &|most| json!({ "enum": (0..20_000 + most).collect::<Vec<_>>() }));
    Ok(())
}

fn hostile(name: &str, schema: &dyn Fn(u64) -> Value) {
    let (old, new) = (schema(9), schema(8));
    let work = work_of_schemas(&old, &new, Direction::Input);
    let taken = median(|| compare_schemas(&old, &new, Direction::Input).len());
    println!("{name:34} {work:7}  {taken:6.1}");
}

fn median(mut run: impl FnMut() -> usize) -> f64 {
    let mut taken: Vec<f64> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            std::hint::black_box(run());
            began.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    taken.sort_by(f64::total_cmp);
    taken.get(RUNS / 2).copied().unwrap_or_default()
}

/// Definitions of which each is made of two references to the next.
fn levels(number: usize, most: u64, level: &dyn Fn(Value, Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for at in 0..number {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        definitions.insert(format!("d{at}"), level(next.clone(), next));
    }
    definitions.insert(format!("d{number}"), json!({ "type": "string", "maxLength": most }));
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions })
}

/// So many tools, before a change, or after one that touches one tool in so many.
fn state(number: usize, step: Option<usize>) -> Result<Snapshot, Unreadable> {
    let tools: Vec<Value> =
        (0..number).map(|index| tool(index, step.is_some_and(|step| index % step == 0))).collect();
    from_tools_list(&json!({ "tools": tools }).to_string())
}

fn tool(index: usize, changed: bool) -> Value {
    let (limit, pattern) = match changed {
        true => (100, "^[a-z0-9]{1,12}(-[a-z0-9]{1,12})*$"),
        false => (200, "^[a-z0-9]+(-[a-z0-9]+)*$"),
    };
    let mut tool = json!({
        "name": format!("tool_number_{index}"),
        "title": format!("Tool {index}"),
        "description": format!("Make up thing number {index}."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": { "type": "string", "minLength": 1, "maxLength": limit, "description": "The text." },
                "slug": { "type": "string", "maxLength": 64, "pattern": pattern },
                "kind": { "type": "string", "enum": ["red", "green", "blue"] },
                "place": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "maxLength": 20 }] },
                "tags": { "type": "array", "maxItems": 8, "items": { "type": "string", "maxLength": 16 } },
                "nested": {
                    "type": "object",
                    "properties": {
                        "width": { "type": "integer", "minimum": 0, "maximum": limit },
                        "label": { "type": "string", "maxLength": 16 },
                    },
                    "required": ["width"],
                    "additionalProperties": false,
                },
            },
            "required": ["text"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "id": { "type": "string", "pattern": "^[0-9a-f]{8}$" },
                "state": { "type": "string", "enum": ["open", "done"] },
            },
            "required": ["id", "state"],
            "additionalProperties": false,
        },
    });
    if changed {
        tool["inputSchema"]["properties"]["added"] = json!({ "type": "integer", "minimum": 0 });
    }
    tool
}
