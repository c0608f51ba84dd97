//! JSON: the limit of nesting, and the canonical form, of which there is one.

use std::collections::HashSet;
use std::fmt;

use colibri_canonical::{CanonicalError, NumberRule, canonical_json};
use colibri_canonical::{MAX_DEPTH, cmp_utf16};
use colibri_runtime::wire::scan::{self, Refusal};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// Pieces of JSON, and numbers on which its readers disagree.
pub const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\"a\":",
    "null",
    "true",
    "-0",
    "-0.0",
    "1.0",
    "1e17",
    "1e21",
    "1e-7",
    "1e400",
    "9007199254740991",
    "9007199254740992",
    "18446744073709551615",
    "18446744073709551616",
    "1.8446744073709550e19",
    "\\ud800",
    "\\udc00",
    "\\ud83d\\ude00",
    "\\u0000",
    "\u{1f600}",
    "\u{fb33}",
    "[[",
    "{\"a\":[",
    "\u{7f}",
    " ",
    "\n",
];

/// How deep values are taken here: beyond the server's limit, within the stack.
const DEEPEST: usize = 200;

/// Measures the nesting in another way than the server, and writes what is JSON in its canonical form.
pub fn check(bytes: &[u8]) -> bool {
    if scan::check(bytes, DEEPEST) == Err(Refusal::TooDeep) {
        let opened = bytes.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
        assert!(opened > DEEPEST, "{opened} brackets are no {DEEPEST} levels");
        return false;
    }
    let Some(Depth { depth, repeats }) = parse(bytes) else { return false };
    if repeats {
        let found = scan::check(bytes, depth);
        assert!(matches!(found, Err(Refusal::Repeated(_))), "an object has a member twice: {found:?}");
        return false;
    }
    assert_eq!(scan::check(bytes, depth), Ok(()), "{depth} levels are no more than that");
    if let Some(less) = depth.checked_sub(1) {
        assert_eq!(scan::check(bytes, less), Err(Refusal::TooDeep), "{depth} levels are more than {less}");
    }
    let value: Value = parse(bytes).expect("what has a depth is a value");
    let forms =
        [NumberRule::Wire, NumberRule::Trail, NumberRule::Exact].map(|rule| form(&value, rule, depth));
    let mut written = forms.iter().flatten();
    if let Some(first) = written.next() {
        assert!(written.all(|other| other == first), "the rules write the same: {forms:?}");
    }
    assert_eq!(forms[0].is_some(), depth <= MAX_DEPTH, "one rule refuses depth alone");
    true
}

/// The canonical form, with all that must be true of it; `None` if the rule refuses the value.
fn form(value: &Value, rule: NumberRule, depth: usize) -> Option<String> {
    let text = match canonical_json(value, rule) {
        Ok(text) => text,
        Err(error) => {
            stands_there(value, &error, depth);
            return None;
        }
    };
    let again: Value = parse(text.as_bytes()).expect("the canonical form is JSON");
    assert!(same(value, &again), "{value} became {text}");
    assert!(sorted(&again), "keys in another order: {text}");
    match canonical_json(&again, rule) {
        Ok(second) => assert_eq!(second, text, "the form of the form"),
        // A double such as 1e17 is written as digits, which the next parser takes for an integer it may not round.
        Err(CanonicalError::UnsafeInteger { .. }) if rule == NumberRule::Trail => {}
        Err(error) => panic!("{text} has no form: {error}"),
    }
    Some(text)
}

/// The error names a place that there is, with a value such as it says.
fn stands_there(value: &Value, error: &CanonicalError, depth: usize) {
    let (CanonicalError::UnsafeInteger { path, .. }
    | CanonicalError::Fraction { path, .. }
    | CanonicalError::NotFinite { path }
    | CanonicalError::TooDeep { path }) = error;
    let (found, steps) = follow(value, path).unwrap_or_else(|| panic!("{path} leads nowhere in {value}"));
    match error {
        CanonicalError::TooDeep { .. } => {
            assert!(depth > MAX_DEPTH && steps == MAX_DEPTH, "{path} of {depth} levels");
            assert!(found.is_array() || found.is_object(), "{path} is {found}");
        }
        CanonicalError::Fraction { .. } => assert!(found.as_f64().unwrap().fract() != 0.0, "{path}: {found}"),
        CanonicalError::UnsafeInteger { .. } => {
            assert!(found.as_f64().unwrap().abs() >= 9_007_199_254_740_992.0, "{path}: {found}");
        }
        CanonicalError::NotFinite { .. } => panic!("JSON has no such number: {value}"),
    }
}

/// The value at an error's path, and how many steps lead there.
fn follow<'v>(mut value: &'v Value, path: &str) -> Option<(&'v Value, usize)> {
    let (mut rest, mut steps) = (path.strip_prefix('$')?, 0);
    while !rest.is_empty() {
        steps += 1;
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            value = value.get(&name[..end])?;
            rest = &name[end..];
        } else if let Some(quoted) = rest.strip_prefix('[').filter(|inner| inner.starts_with('"')) {
            let mut keys = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
            value = value.get(keys.next()?.ok()?)?;
            rest = quoted[keys.byte_offset()..].strip_prefix(']')?;
        } else {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            value = value.get(index.parse::<usize>().ok()?)?;
            rest = after;
        }
    }
    Some((value, steps))
}

fn sorted(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(sorted),
        Value::Object(members) => {
            let keys: Vec<&String> = members.keys().collect();
            keys.is_sorted_by(|left, right| cmp_utf16(left, right).is_lt()) && members.values().all(sorted)
        }
        _ => true,
    }
}

/// Equal but for the order of members and the spelling of numbers.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let fits =
                |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| same(value, other));
            left.len() == right.len() && left.iter().all(fits)
        }
        _ => left == right,
    }
}

fn same_number(left: &Number, right: &Number) -> bool {
    if left.is_f64() || right.is_f64() { left.as_f64() == right.as_f64() } else { left == right }
}

/// Parses a whole text without the parser's own limit of nesting.
fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer).ok()?;
    deserializer.end().ok().map(|()| value)
}

/// What is neither an array nor an object.
const FLAT: Depth = Depth { depth: 0, repeats: false };

/// The shape of a value.
struct Depth {
    /// How many arrays and objects stand inside one another, those included that a repeated name hides.
    depth: usize,
    /// An object has a member twice.
    repeats: bool,
}

impl Depth {
    fn around(inside: impl IntoIterator<Item = Self>, repeats: bool) -> Self {
        let start = Self { depth: 1, repeats };
        inside.into_iter().fold(start, |all, one| Self {
            depth: all.depth.max(one.depth + 1),
            repeats: all.repeats | one.repeats,
        })
    }
}

impl<'de> Deserialize<'de> for Depth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Measure)
    }
}

struct Measure;

impl<'de> Visitor<'de> for Measure {
    type Value = Depth;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Depth, A::Error> {
        let (mut names, mut members) = (HashSet::new(), Vec::new());
        let mut repeats = false;
        while let Some((name, member)) = map.next_entry::<String, Depth>()? {
            repeats |= !names.insert(name);
            members.push(member);
        }
        Ok(Depth::around(members, repeats))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Depth, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Depth::around(items, false))
    }
    fn visit_unit<E>(self) -> Result<Depth, E> {
        Ok(FLAT)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Depth, E> {
        Ok(FLAT)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Depth, E> {
        Ok(FLAT)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Depth, E> {
        Ok(FLAT)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Depth, E> {
        Ok(FLAT)
    }
    fn visit_str<E>(self, _: &str) -> Result<Depth, E> {
        Ok(FLAT)
    }
}
