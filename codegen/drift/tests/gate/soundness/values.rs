//! Values made from a schema, by a way of its own that shares nothing with the comparison: mostly such as
//! fit it, near its bounds and near those of the other schema.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::schemas::{self, NAMES};

struct Maker<'a> {
    root: &'a Value,
    depth: usize,
}

/// Values for `schema`; some with parts that are made for `other`.
pub fn values(schema: &Value, other: &Value, count: usize, dice: &mut Dice) -> Vec<Value> {
    (0..count)
        .map(|turn| {
            let mut value = Maker { root: schema, depth: 0 }.value(schema, dice);
            if turn % 8 == 7 {
                let foreign = Maker { root: other, depth: 0 }.value(other, dice);
                mix(&mut value, foreign, dice);
            }
            value
        })
        .collect()
}

/// A member of one value put into the other.
fn mix(value: &mut Value, other: Value, dice: &mut Dice) {
    match (value, other) {
        (Value::Object(members), Value::Object(others)) => {
            let others: Vec<_> = others.into_iter().collect();
            if !others.is_empty() {
                let (name, member) = others[dice.roll(others.len())].clone();
                members.insert(name, member);
            }
        }
        (value, other) => *value = other,
    }
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, dice: &mut Dice) -> Value {
        let Value::Object(keywords) = schema else { return schemas::value(dice) };
        self.depth += 1;
        let value = self.of(keywords, dice);
        self.depth -= 1;
        value
    }

    fn of(&mut self, keywords: &Map<String, Value>, dice: &mut Dice) -> Value {
        if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
            let target =
                self.root.pointer(target.trim_start_matches('#')).cloned().unwrap_or(Value::Bool(true));
            return if self.depth > 6 { json!({}) } else { self.value(&target, dice) };
        }
        if let Some(value) = keywords.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            // Those that the other keywords let through, if there are any.
            let own = own_validator(keywords);
            let fitting: Vec<&Value> = values.iter().filter(|value| own.is_valid(value)).collect();
            return fitting
                .get(dice.roll(fitting.len().max(1)))
                .map_or_else(|| values[0].clone(), |value| (*value).clone());
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = keywords.get(keyword) {
                return match branches.get(dice.roll(branches.len().max(1))) {
                    Some(branch) => self.together(keywords, std::slice::from_ref(branch), dice),
                    None => Value::Null,
                };
            }
        }
        if let Some(Value::Array(parts)) = keywords.get("allOf") {
            return self.together(keywords, parts, dice);
        }
        self.plain(keywords, dice)
    }

    /// One value for several schemas: their keywords side by side, properties joined.
    fn together(&mut self, keywords: &Map<String, Value>, parts: &[Value], dice: &mut Dice) -> Value {
        let mut joined = keywords.clone();
        for keyword in ["anyOf", "oneOf", "allOf"] {
            joined.shift_remove(keyword);
        }
        for part in parts {
            let part = match part.get("$ref").and_then(Value::as_str) {
                Some(target) => self.root.pointer(target.trim_start_matches('#')).unwrap_or(part),
                None => part,
            };
            for (keyword, operand) in part.as_object().into_iter().flatten() {
                match (joined.get_mut(keyword), operand) {
                    (Some(Value::Object(known)), Value::Object(more)) => {
                        more.iter().for_each(|(name, part)| drop(known.insert(name.clone(), part.clone())));
                    }
                    (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                        let known_too: Vec<_> =
                            more.iter().filter(|name| !known.contains(name)).cloned().collect();
                        known.extend(known_too);
                    }
                    _ => drop(joined.insert(keyword.clone(), operand.clone())),
                }
            }
        }
        if self.depth > 8 { Value::Null } else { self.value(&Value::Object(joined), dice) }
    }

    fn plain(&mut self, keywords: &Map<String, Value>, dice: &mut Dice) -> Value {
        let kind = match keywords.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                kinds[dice.roll(kinds.len())].as_str().unwrap_or_default().to_owned()
            }
            _ if keywords.contains_key("properties") => "object".to_owned(),
            _ => (*dice.pick(&["null", "boolean", "integer", "number", "string", "object", "array"]))
                .to_owned(),
        };
        match kind.as_str() {
            "boolean" => json!(dice.one_in(2)),
            "integer" => number(keywords, true, dice),
            "number" => number(keywords, false, dice),
            "string" => text(keywords, dice),
            "array" => self.array(keywords, dice),
            "object" => self.object(keywords, dice),
            _ => Value::Null,
        }
    }

    fn array(&mut self, keywords: &Map<String, Value>, dice: &mut Dice) -> Value {
        let count = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64);
        let least = count("minItems").unwrap_or(0);
        let most = count("maxItems").unwrap_or(least + 3).max(least);
        let length = least + dice.roll((most - least + 1) as usize) as u64;
        let length = if self.depth > 6 { least } else { length };
        let prefix = keywords.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let open = Value::Bool(true);
        let mut items = Vec::new();
        for index in 0..length as usize {
            let schema = prefix.get(index).or_else(|| keywords.get("items")).unwrap_or(&open).clone();
            let item = self.value(&schema, dice);
            if keywords.contains_key("uniqueItems") && items.contains(&item) && items.len() as u64 >= least {
                continue;
            }
            items.push(item);
        }
        if let (Some(contained), true) = (keywords.get("contains"), prefix.is_empty()) {
            let item = self.value(&contained.clone(), dice);
            match items.first_mut() {
                Some(first) => *first = item,
                None => items.push(item),
            }
        }
        Value::Array(items)
    }

    fn object(&mut self, keywords: &Map<String, Value>, dice: &mut Dice) -> Value {
        let empty = Map::new();
        let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object).unwrap_or(&empty);
        let open = Value::Bool(true);
        let additional = keywords.get("additionalProperties").unwrap_or(&open);
        let required: Vec<&str> = keywords
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut names: Vec<&str> = required.clone();
        let sparse = self.depth > 5 || dice.one_in(4);
        for name in properties.keys() {
            if !required.contains(&name.as_str()) && !sparse && dice.one_in(2) {
                names.push(name);
            }
        }
        if *additional != json!(false) && dice.one_in(3) {
            names.push(*dice.pick(&["extra", "x1", "a", "z9", "Q", "b"]));
        }
        for (name, others) in
            keywords.get("dependentRequired").and_then(Value::as_object).into_iter().flatten()
        {
            if names.contains(&name.as_str()) {
                names.extend(others.as_array().into_iter().flatten().filter_map(Value::as_str));
            }
        }
        let least = keywords.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
        for name in properties.keys().map(String::as_str).chain(NAMES) {
            if names.len() < least as usize && !names.contains(&name) {
                names.push(name);
            }
        }
        let most = keywords.get("maxProperties").and_then(Value::as_u64).unwrap_or(100) as usize;
        let mut members = Map::new();
        for name in names {
            if members.len() >= most {
                break;
            }
            let pattern = patterns.iter().find(|(pattern, _)| {
                regress::Regex::with_flags(pattern, "u").is_ok_and(|engine| engine.find(name).is_some())
            });
            let schema = properties.get(name).or(pattern.map(|(_, part)| part)).unwrap_or(additional).clone();
            members.insert(name.to_owned(), self.value(&schema, dice));
        }
        Value::Object(members)
    }
}

fn own_validator(keywords: &Map<String, Value>) -> jsonschema::Validator {
    let only: Map<String, Value> = keywords
        .iter()
        .filter(|(keyword, operand)| {
            !operand.is_object() && !["anyOf", "oneOf", "allOf"].contains(&keyword.as_str())
        })
        .map(|(keyword, operand)| (keyword.clone(), operand.clone()))
        .collect();
    jsonschema::draft202012::new(&Value::Object(only)).expect("a schema of plain keywords")
}

fn number(keywords: &Map<String, Value>, whole: bool, dice: &mut Dice) -> Value {
    let of = |keyword: &str| keywords.get(keyword).and_then(Value::as_f64);
    let step = of("multipleOf").unwrap_or(if whole { 1.0 } else { 0.25 });
    let step = if whole && step < 1.0 { 1.0 } else { step };
    let above = of("exclusiveMinimum").map(|bound| bound + 0.125).into_iter();
    let least = above.chain(of("minimum")).reduce(f64::max);
    let below = of("exclusiveMaximum").map(|bound| bound - 0.125).into_iter();
    let most = below.chain(of("maximum")).reduce(f64::min);
    let (least, most) = match (least, most) {
        (Some(least), Some(most)) => (least, most),
        (Some(least), None) => (least, least + 20.0),
        (None, Some(most)) => (most - 20.0, most),
        (None, None) => (-10.0, 10.0),
    };
    let (first, last) = ((least / step).ceil() as i64, (most / step).floor() as i64);
    let count = (last - first + 1).max(1) as usize;
    let at = match dice.roll(4) {
        0 => 0,
        1 => count - 1,
        _ => dice.roll(count),
    };
    let number = (first + at as i64) as f64 * step;
    if number.fract() == 0.0 && !dice.one_in(10) { json!(number as i64) } else { json!(number) }
}

fn text(keywords: &Map<String, Value>, dice: &mut Dice) -> Value {
    let count = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64);
    let least = count("minLength").unwrap_or(0) as usize;
    let most = count("maxLength").unwrap_or(least as u64 + 8).max(least as u64) as usize;
    if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
        let engine = regress::Regex::with_flags(pattern, "u").expect(pattern);
        for _ in 0..20 {
            let text = text_near(pattern, dice);
            let length = text.chars().count();
            if (least..=most).contains(&length) && engine.find(&text).is_some() {
                return Value::String(text);
            }
        }
    }
    let length = match dice.roll(4) {
        0 => least,
        1 => most,
        _ => least + dice.roll(most - least + 1),
    };
    Value::String((0..length).map(|_| *dice.pick(&['a', 'b', 'z', '0', 'é', '😀', ' '])).collect())
}

/// A text that a pattern often takes: the pattern read from left to right, classes and counts by guess.
pub fn text_near(pattern: &str, dice: &mut Dice) -> String {
    let mut text = String::new();
    let branches: Vec<&str> = pattern.split('|').collect();
    let branch = if pattern.contains('(') { pattern } else { dice.pick(&branches) };
    let letters: Vec<char> = branch.chars().collect();
    let mut at = 0;
    let mut last = String::new();
    while at < letters.len() {
        let atom: String = match letters[at] {
            '^' | '$' | '(' | ')' | '|' => {
                at += 1;
                if letters.get(at) == Some(&'?') && letters[at - 1] == '(' {
                    at += 2;
                }
                continue;
            }
            '?' | '*' => {
                if dice.one_in(2) {
                    text.truncate(text.strip_suffix(last.as_str()).map_or(text.len(), str::len));
                }
                at += 1;
                continue;
            }
            '+' => {
                for _ in 0..dice.roll(3) {
                    text.push_str(&last);
                }
                at += 1;
                continue;
            }
            '{' => {
                let end = letters[at..].iter().position(|c| *c == '}').map_or(letters.len(), |end| at + end);
                let count: String = letters[at + 1..end].iter().take_while(|c| c.is_ascii_digit()).collect();
                for _ in 1..count.parse::<usize>().unwrap_or(1) + dice.roll(2) {
                    text.push_str(&last);
                }
                at = end + 1;
                continue;
            }
            '[' => {
                let end = letters[at + 1..]
                    .iter()
                    .position(|c| *c == ']')
                    .map_or(letters.len() - 1, |end| at + 1 + end);
                let class: String = letters[at..=end].iter().collect();
                at = end + 1;
                one_of(&class, dice)
            }
            '\\' => {
                let (escape, length) = escape(&letters[at..], dice);
                at += length;
                escape
            }
            '.' => {
                at += 1;
                one_of(".", dice)
            }
            letter => {
                at += 1;
                letter.to_string()
            }
        };
        text.push_str(&atom);
        last = atom;
    }
    frayed(text, dice)
}

/// The text, sometimes with something more or less at its ends.
fn frayed(mut text: String, dice: &mut Dice) -> String {
    if dice.one_in(6) {
        text.insert_str(0, &one_of(".", dice));
    }
    if dice.one_in(6) {
        text.push_str(&one_of(".", dice));
    }
    if dice.one_in(8) {
        text.pop();
    }
    text
}

fn escape(letters: &[char], dice: &mut Dice) -> (String, usize) {
    match letters.get(1) {
        Some('u') if letters.get(2) == Some(&'{') => ("😀".to_owned(), 9),
        Some('u') => ("a".to_owned(), 6),
        Some('x') => ("b".to_owned(), 4),
        Some('t') => ("\t".to_owned(), 2),
        Some(kind @ ('d' | 'w' | 's' | 'D' | 'W' | 'S')) => (one_of(&format!("\\{kind}"), dice), 2),
        Some(other) => (other.to_string(), 2),
        None => (String::new(), 1),
    }
}

/// A character that a class takes, or any.
fn one_of(class: &str, dice: &mut Dice) -> String {
    const LETTERS: [char; 22] = [
        'a', 'b', 'c', 'z', 'A', 'Z', '0', '9', '5', '_', '-', '.', ' ', '\t', '\n', 'é', 'ſ', 'K',
        '\u{2028}', '\u{feff}', '😀', '\u{85}',
    ];
    let fitting = LETTERS_OF.with_borrow_mut(|known| {
        let letters = known.entry(class.to_owned()).or_insert_with(|| {
            let engine = regress::Regex::with_flags(&format!("^{class}$"), "u").expect(class);
            LETTERS.into_iter().filter(|letter| engine.find(&letter.to_string()).is_some()).collect()
        });
        letters.clone()
    });
    let letters = if fitting.is_empty() || dice.one_in(20) { &LETTERS[..] } else { &fitting };
    dice.pick(letters).to_string()
}

thread_local! {
    /// The letters of each class that has been asked for.
    static LETTERS_OF: RefCell<HashMap<String, Vec<char>>> = RefCell::default();
}
