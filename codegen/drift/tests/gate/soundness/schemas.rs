//! Random schemas of every kind of keyword that the comparison reads.

use serde_json::{Map, Value, json};

use super::dice::Dice;

pub const NAMES: [&str; 6] = ["a", "b", "c", "kind", "id", "x1"];
pub const WORDS: [&str; 5] = ["", "a", "ab", "note", "task"];

/// A whole schema: mostly an object, sometimes with definitions.
pub fn schema(dice: &mut Dice) -> Value {
    let mut root = if dice.one_in(6) { any(dice, 3) } else { object(dice, 3) };
    define(&mut root, dice);
    root
}

/// Gives a schema the definitions that its parts may refer to, if it has none yet.
pub fn define(root: &mut Value, dice: &mut Dice) {
    if let Value::Object(members) = root
        && !members.contains_key("$defs")
    {
        let definitions = json!({ "one": any(dice, 1), "two": any(dice, 1), "tree": tree(dice) });
        members.insert("$defs".to_owned(), definitions);
    }
}

fn tree(dice: &mut Dice) -> Value {
    json!({
        "type": "object",
        "properties": { "id": scalar(dice), "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } } },
        "additionalProperties": dice.one_in(2)
    })
}

pub fn any(dice: &mut Dice, depth: usize) -> Value {
    if depth == 0 {
        return scalar(dice);
    }
    match dice.roll(14) {
        0..=3 => object(dice, depth),
        4 | 5 => array(dice, depth),
        6 => union(dice, depth),
        7 => json!({ "$ref": dice.pick(&["#/$defs/one", "#/$defs/two", "#/$defs/tree"]) }),
        8 => merged(dice, depth),
        9 => conditional(dice, depth),
        _ => scalar(dice),
    }
}

pub fn scalar(dice: &mut Dice) -> Value {
    match dice.roll(12) {
        0..=2 => string(dice),
        3 | 4 => integer(dice),
        5 => number(dice),
        6 => json!({ "type": "boolean" }),
        7 => json!({ "enum": values(dice) }),
        8 => json!({ "const": value(dice) }),
        9 => match string(dice) {
            Value::Object(mut members) => {
                members.insert("type".to_owned(), json!(["string", "null"]));
                Value::Object(members)
            }
            other => other,
        },
        10 => {
            json!({ "type": [dice.pick(&["integer", "number"]), "string"], "maximum": dice.roll(9), "maxLength": dice.roll(5) })
        }
        _ => json!(dice.pick(&[
            json!({}),
            json!(true),
            json!({ "type": "null" }),
            json!({ "type": "integer", "enum": [1, 2.0, 3] })
        ])),
    }
}

pub fn value(dice: &mut Dice) -> Value {
    match dice.roll(8) {
        0 => Value::Null,
        1 => json!(dice.one_in(2)),
        2 | 3 => json!(dice.roll(6)),
        4 => json!(0.5),
        _ => json!(dice.pick(&WORDS)),
    }
}

fn values(dice: &mut Dice) -> Vec<Value> {
    let mut all = Vec::new();
    for _ in 0..1 + dice.roll(4) {
        let value = value(dice);
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

pub fn string(dice: &mut Dice) -> Value {
    let mut schema = json!({ "type": "string" });
    if dice.one_in(3) {
        schema["minLength"] = json!(dice.roll(4));
    }
    if dice.one_in(3) {
        schema["maxLength"] = json!(2 + dice.roll(8));
    }
    if dice.one_in(3) {
        schema["pattern"] = json!(pattern(dice));
    }
    if dice.one_in(12) {
        schema["format"] = json!(dice.pick(&["email", "uri", "date-time"]));
    }
    schema
}

pub fn integer(dice: &mut Dice) -> Value {
    let mut schema = json!({ "type": "integer" });
    if dice.one_in(2) {
        let keyword = *dice.pick(&["minimum", "exclusiveMinimum"]);
        schema[keyword] = json!(dice.roll(6) as i64 - 3);
    }
    if dice.one_in(2) {
        let keyword = *dice.pick(&["maximum", "exclusiveMaximum"]);
        schema[keyword] = if dice.one_in(8) { json!(7.5) } else { json!(3 + dice.roll(20)) };
    }
    if dice.one_in(6) {
        schema["multipleOf"] = json!(1 + dice.roll(5));
    }
    schema
}

pub fn number(dice: &mut Dice) -> Value {
    let mut schema = json!({ "type": "number" });
    if dice.one_in(2) {
        let keyword = *dice.pick(&["minimum", "exclusiveMinimum"]);
        schema[keyword] = json!(dice.roll(6) as f64 / 2.0 - 1.5);
    }
    if dice.one_in(2) {
        let keyword = *dice.pick(&["maximum", "exclusiveMaximum"]);
        schema[keyword] = json!(2.0 + dice.roll(12) as f64 / 4.0);
    }
    if dice.one_in(6) {
        schema["multipleOf"] = json!(dice.pick(&[0.5, 0.25, 2.0, 1.0]));
    }
    schema
}

fn array(dice: &mut Dice, depth: usize) -> Value {
    let mut schema = json!({ "type": "array" });
    if !dice.one_in(5) {
        schema["items"] = any(dice, depth - 1);
    }
    if dice.one_in(5) {
        schema["prefixItems"] = json!([any(dice, depth - 1), scalar(dice)]);
    }
    if dice.one_in(3) {
        schema["minItems"] = json!(dice.roll(3));
    }
    if dice.one_in(3) {
        schema["maxItems"] = json!(1 + dice.roll(4));
    }
    if dice.one_in(6) {
        schema["uniqueItems"] = json!(true);
    }
    if dice.one_in(12) {
        schema["contains"] = scalar(dice);
    }
    schema
}

pub fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in NAMES {
        if dice.one_in(2) {
            let part = if depth > 0 { any(dice, depth - 1) } else { scalar(dice) };
            properties.insert(name.to_owned(), part);
            if dice.one_in(3) {
                required.push(name);
            }
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    match dice.roll(6) {
        0..=2 => schema["additionalProperties"] = json!(false),
        3 => schema["additionalProperties"] = scalar(dice),
        _ => {}
    }
    if dice.one_in(10) {
        schema["patternProperties"] = json!({ *dice.pick(&["^x", "[0-9]$", "^[a-c]$"]): scalar(dice) });
    }
    if dice.one_in(12) {
        schema["maxProperties"] = json!(2 + dice.roll(4));
    }
    if dice.one_in(12) {
        schema["minProperties"] = json!(dice.roll(3));
    }
    if dice.one_in(14) {
        schema["propertyNames"] = json!({ "pattern": dice.pick(&["^[a-z]", "^[a-z0-9]+$", "."]) });
    }
    if dice.one_in(14) {
        schema["dependentRequired"] = json!({ *dice.pick(&NAMES): [dice.pick(&NAMES)] });
    }
    schema
}

fn union(dice: &mut Dice, depth: usize) -> Value {
    let keyword = *dice.pick(&["anyOf", "anyOf", "oneOf"]);
    if dice.one_in(3) {
        let kinds = ["note", "task", "file"];
        let branches: Vec<Value> = kinds[..2 + dice.roll(2)]
            .iter()
            .map(|kind| json!({ "type": "object", "properties": { "kind": { "const": kind }, "a": scalar(dice) }, "required": ["kind"] }))
            .collect();
        return json!({ keyword: branches });
    }
    let branches: Vec<Value> = (0..1 + dice.roll(3)).map(|_| any(dice, depth - 1)).collect();
    json!({ keyword: branches })
}

fn merged(dice: &mut Dice, depth: usize) -> Value {
    let other = if dice.one_in(2) { object(dice, depth - 1) } else { scalar(dice) };
    json!({ "allOf": [object(dice, depth - 1), other] })
}

fn conditional(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(3) {
        0 => json!({ "not": scalar(dice) }),
        1 => json!({
            "type": "object",
            "properties": { "kind": { "enum": ["note", "task"] }, "a": scalar(dice) },
            "if": { "properties": { "kind": { "const": "note" } }, "required": ["kind"] },
            "then": { "required": ["a"] }
        }),
        _ => {
            let mut schema = object(dice, depth - 1);
            schema["dependentSchemas"] = json!({ *dice.pick(&NAMES): object(dice, 0) });
            schema
        }
    }
}

/// A pattern of the portable dialect.
pub fn pattern(dice: &mut Dice) -> String {
    let inner = alternatives(dice, 2);
    match dice.roll(6) {
        0..=2 => format!("^{inner}$").replace("^|", "^a|"),
        3 => format!("^(?:{inner})$"),
        4 => format!("^{inner}"),
        _ => inner,
    }
}

fn alternatives(dice: &mut Dice, depth: usize) -> String {
    let count = if dice.one_in(3) { 2 } else { 1 };
    let parts: Vec<String> = (0..count).map(|_| sequence(dice, depth)).collect();
    parts.join("|")
}

fn sequence(dice: &mut Dice, depth: usize) -> String {
    (0..1 + dice.roll(3)).map(|_| term(dice, depth)).collect()
}

const COUNTS: [&str; 9] = ["*", "+", "?", "{2}", "{1,3}", "{2,}", "", "", ""];

fn term(dice: &mut Dice, depth: usize) -> String {
    let mut counts = &COUNTS[..];
    let atom = match dice.roll(if depth == 0 { 6 } else { 8 }) {
        0 | 1 => (*dice.pick(&["a", "b", "c", "0", "9", "_", "é", "\\.", "-", " "])).to_owned(),
        2 => {
            (*dice.pick(&["[a-c]", "[a-z]", "[0-9]", "[^a]", "[A-Za-z0-9_]", "[\\d.-]", "[^\\s]"])).to_owned()
        }
        3 => (*dice.pick(&["\\d", "\\w", "\\s", "\\D", "\\W", "\\S"])).to_owned(),
        4 => ".".to_owned(),
        5 => (*dice.pick(&["\\u0061", "\\x62", "\\u{1F600}", "\\t", "\\/"])).to_owned(),
        group => {
            let inner = alternatives(dice, depth - 1);
            // Counts inside counts can keep a backtracking engine busy for ever.
            if inner.contains(['*', '+', '?', '{']) {
                counts = &["?", "", ""];
            }
            if group == 6 { format!("({inner})") } else { format!("(?:{inner})") }
        }
    };
    let count = *dice.pick(counts);
    atom + count
}
