//! Random edits: most of them small, anywhere in a schema, in both directions; some that change nothing.

use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::schemas::{self, NAMES};

/// Keywords with schemas inside.
const INSIDE: [&str; 8] =
    ["items", "additionalProperties", "not", "if", "then", "contains", "propertyNames", "else"];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "dependentSchemas"];

/// Returns the schema with no edit, one or two; or another schema altogether.
pub fn edited(schema: &Value, dice: &mut Dice) -> Value {
    if dice.one_in(25) {
        return schemas::schema(dice);
    }
    let mut edited = schema.clone();
    let count = *dice.pick(&[0, 1, 1, 1, 1, 2, 3]);
    for _ in 0..count {
        let places = places(&edited);
        let place = dice.pick(&places).clone();
        let only_rewrite = dice.one_in(8);
        // Most tries change something: a keyword that is not there cannot be nudged.
        for _ in 0..6 {
            let Some(part) = edited.pointer_mut(&place) else { break };
            let before = part.clone();
            if only_rewrite {
                rewrite(part, dice)
            } else {
                edit(part, dice)
            }
            if *part != before {
                break;
            }
        }
    }
    // `true` may have become a schema that refers to something.
    schemas::define(&mut edited, dice);
    edited
}

/// Returns the pointers of all schemas inside a schema.
fn places(schema: &Value) -> Vec<String> {
    fn walk(schema: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        let Value::Object(members) = schema else { return };
        for (keyword, operand) in members {
            let below = format!("{at}/{keyword}");
            match operand {
                Value::Object(parts) if NAMED.contains(&keyword.as_str()) => {
                    for (name, part) in parts {
                        walk(part, &format!("{below}/{}", name.replace('~', "~0").replace('/', "~1")), found);
                    }
                }
                Value::Array(parts) if LISTS.contains(&keyword.as_str()) => {
                    parts
                        .iter()
                        .enumerate()
                        .for_each(|(index, part)| walk(part, &format!("{below}/{index}"), found));
                }
                part if INSIDE.contains(&keyword.as_str()) => walk(part, &below, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(schema, "", &mut found);
    // A definition without references to it makes no difference.
    let text = schema.to_string();
    found.retain(|place| match place.strip_prefix("/$defs/").map(|rest| rest.split('/').next()) {
        Some(name) => text.contains(&format!("#/$defs/{}\"", name.unwrap_or_default())),
        None => true,
    });
    found
}

/// Rewrites a part in another way with the same meaning.
fn rewrite(part: &mut Value, dice: &mut Dice) {
    let inner = part.take();
    *part = match (dice.roll(5), inner) {
        (0, inner) if inner.get("$defs").is_none() => json!({ "anyOf": [inner] }),
        (1, inner) if inner.get("$defs").is_none() => json!({ "allOf": [inner] }),
        (2, Value::Object(members)) => {
            let mut turned: Vec<_> = members.into_iter().collect();
            turned.reverse();
            Value::Object(turned.into_iter().collect())
        }
        (3, Value::Object(mut members)) => {
            members.insert("title".to_owned(), json!("Title"));
            Value::Object(members)
        }
        (4, Value::Object(mut members)) if members.get("type") == Some(&json!(["string", "null"])) => {
            members.insert("type".to_owned(), json!("string"));
            json!({ "anyOf": [{ "type": "null" }, members] })
        }
        (_, inner) => inner,
    };
}

fn edit(part: &mut Value, dice: &mut Dice) {
    let depth = dice.roll(2);
    let Value::Object(members) = part else {
        *part = schemas::any(dice, depth);
        return;
    };
    match dice.roll(12) {
        0 => {
            let defs = members.get("$defs").cloned();
            *part = schemas::any(dice, depth);
            if let (Value::Object(members), Some(defs)) = (part, defs) {
                members.insert("$defs".to_owned(), defs);
            }
        }
        1 => remove_keyword(members, dice),
        2 => {
            let from = match dice.roll(4) {
                0 => schemas::string(dice),
                1 => schemas::integer(dice),
                2 => schemas::number(dice),
                _ => schemas::object(dice, 0),
            };
            add_keyword(members, &from, dice);
        }
        3 | 4 => nudge(members, dice),
        5 => change_type(members, dice),
        6 => change_values(members, dice),
        _ => change_object(members, dice),
    }
}

fn remove_keyword(members: &mut Map<String, Value>, dice: &mut Dice) {
    let keywords: Vec<String> = members.keys().filter(|keyword| *keyword != "$defs").cloned().collect();
    if !keywords.is_empty() {
        members.shift_remove(dice.pick(&keywords));
    }
}

fn add_keyword(members: &mut Map<String, Value>, from: &Value, dice: &mut Dice) {
    let keywords: Vec<&String> = from.as_object().map(|from| from.keys().collect()).unwrap_or_default();
    if let Some(keyword) = keywords.get(dice.roll(keywords.len().max(1))) {
        members.insert((*keyword).clone(), from[*keyword].clone());
    }
}

/// Moves a bound a little, or changes the kind of a pattern.
fn nudge(members: &mut Map<String, Value>, dice: &mut Dice) {
    let keywords: Vec<String> = members
        .iter()
        .filter(|(keyword, operand)| operand.is_number() && *keyword != "const" || *keyword == "pattern")
        .map(|(keyword, _)| keyword.clone())
        .collect();
    if keywords.is_empty() {
        return change_object(members, dice);
    }
    let keyword = dice.pick(&keywords).clone();
    let operand = &members[&keyword];
    let nudged = match operand.as_str() {
        Some(pattern) if dice.one_in(2) => json!(format!("{}|^z$", pattern)),
        Some(_) => json!(schemas::pattern(dice)),
        None => match (operand.as_i64(), *dice.pick(&[-2_i64, -1, 1, 2])) {
            (Some(whole), by) if keyword == "multipleOf" => json!((whole * by.abs()).max(1)),
            (Some(whole), by)
                if keyword.starts_with("min") && keyword.len() > 7
                    || keyword.starts_with("max") && keyword.len() > 7 =>
            {
                json!((whole + by).max(0))
            }
            (Some(whole), by) => json!(whole + by),
            (None, by) if keyword == "multipleOf" => json!(if by > 0 { 0.5 } else { 0.25 }),
            (None, by) => json!(operand.as_f64().unwrap_or(0.0) + by as f64 / 4.0),
        },
    };
    members.insert(keyword, nudged);
}

fn change_type(members: &mut Map<String, Value>, dice: &mut Dice) {
    let types = [
        json!("string"),
        json!("integer"),
        json!("number"),
        json!(["integer", "null"]),
        json!(["string", "null"]),
        json!("object"),
    ];
    let widened = match members.get("type") {
        Some(Value::String(name)) if dice.one_in(2) => json!([name, "null"]),
        Some(Value::Array(names)) if dice.one_in(2) => names[0].clone(),
        Some(Value::String(name)) if name == "integer" => json!("number"),
        Some(Value::String(name)) if name == "number" => json!("integer"),
        _ => dice.pick(&types).clone(),
    };
    let twice = widened == json!(["null", "null"]);
    members.insert("type".to_owned(), if twice { json!("null") } else { widened });
}

fn change_values(members: &mut Map<String, Value>, dice: &mut Dice) {
    let fresh = schemas::value(dice);
    let single = members.contains_key("const");
    match members.get_mut("enum") {
        Some(Value::Array(values)) if values.len() > 1 && dice.one_in(2) => {
            let at = dice.roll(values.len());
            values.remove(at);
        }
        Some(Value::Array(values)) if !values.contains(&fresh) => values.push(fresh),
        _ if single => {
            members.insert("const".to_owned(), fresh);
        }
        _ => change_object(members, dice),
    }
}

fn change_object(members: &mut Map<String, Value>, dice: &mut Dice) {
    let name = (*dice.pick(&NAMES)).to_owned();
    match dice.roll(5) {
        0 => {
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                properties.shift_remove(&name);
            }
        }
        1 => {
            let part = schemas::scalar(dice);
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                properties.insert(name, part);
            }
        }
        2 => {
            let operand = [json!(false), json!(true), json!({ "type": "string" })][dice.roll(3)].clone();
            members.insert("additionalProperties".to_owned(), operand);
        }
        3 => {
            let required = members.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(names) = required {
                match names.iter().position(|known| *known == json!(name)) {
                    Some(at) => drop(names.remove(at)),
                    None => names.push(json!(name)),
                }
            }
        }
        _ => {
            for keyword in ["anyOf", "oneOf"] {
                let fresh = schemas::any(dice, 1);
                if let Some(Value::Array(branches)) = members.get_mut(keyword) {
                    if branches.len() > 1 && dice.one_in(2) {
                        let at = dice.roll(branches.len());
                        branches.remove(at);
                    } else {
                        branches.push(fresh);
                    }
                }
            }
        }
    }
}
