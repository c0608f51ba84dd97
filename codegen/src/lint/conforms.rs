//! Whether a value fits a schema of the catalogue: the judge of defaults and examples.
//!
//! An interpreter over the schemas as written, `$ref` names looked up on the way. The tables that a
//! server validates with are made later and elsewhere; both are tested against the same independent
//! validator.

use colibri_pattern::{Regex, Steps};
use serde_json::{Number, Value};

use crate::catalogue::{Catalogue, Rule, SchemaValue, Tool};

use super::schemas::{branches, type_of};

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Pointer into the value.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// Schemas nested or referring to each other deeper than this are taken for endless.
const MAX_DEPTH: usize = 256;

/// Judges a value by a schema of the catalogue.
///
/// # Errors
///
/// Everything that does not fit, in the order of the schema.
pub fn check(catalogue: &Catalogue, schema: &SchemaValue, value: &Value) -> Result<(), Vec<Misfit>> {
    let mut judge = Judge { catalogue, misfits: Vec::new() };
    judge.map(schema, value, "", 0);
    if judge.misfits.is_empty() { Ok(()) } else { Err(judge.misfits) }
}

/// Judges arguments by a tool's input schema and, when they fit it, by its rules across fields.
///
/// # Errors
///
/// As [`check`].
pub(crate) fn check_arguments(
    catalogue: &Catalogue,
    tool: &Tool,
    arguments: &Value,
) -> Result<(), Vec<Misfit>> {
    check(catalogue, &tool.input, arguments)?;
    let misfits: Vec<Misfit> = tool.rules.iter().flat_map(|rule| broken(rule, arguments)).collect();
    if misfits.is_empty() { Ok(()) } else { Err(misfits) }
}

fn broken(rule: &Rule, arguments: &Value) -> Vec<Misfit> {
    let misfit =
        |key: &str, message: &str| Misfit { pointer: format!("/{key}"), message: message.to_owned() };
    match rule {
        Rule::AliasEqual { field, alias, message } => match (arguments.get(field), arguments.get(alias)) {
            (Some(one), Some(other)) if one != other => vec![misfit(alias, message)],
            _ => Vec::new(),
        },
        Rule::Either { field, others, message } if arguments.get(field).is_some() => {
            let clashes = others.iter().filter(|other| arguments.get(other.as_str()).is_some());
            clashes.map(|other| misfit(other, message)).collect()
        }
        Rule::Needs { field, other, message }
            if arguments.get(field).is_some() && arguments.get(other).is_none() =>
        {
            vec![misfit(field, message)]
        }
        Rule::MaxBytes { field, limit, message } => match arguments.get(field).and_then(Value::as_str) {
            Some(text) if text.len() as u64 > u64::from(*limit) => vec![misfit(field, message)],
            _ => Vec::new(),
        },
        Rule::NoNul { message } if holds_nul(arguments) => {
            vec![Misfit { pointer: String::new(), message: message.clone() }]
        }
        Rule::Either { .. } | Rule::Needs { .. } | Rule::NoNul { .. } => Vec::new(),
    }
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(members) => members.values().any(holds_nul),
        _ => false,
    }
}

struct Judge<'a> {
    catalogue: &'a Catalogue,
    misfits: Vec<Misfit>,
}

impl Judge<'_> {
    fn misfit(&mut self, pointer: &str, message: impl Into<String>) {
        self.misfits.push(Misfit { pointer: pointer.to_owned(), message: message.into() });
    }

    fn value(&mut self, schema: &Value, value: &Value, at: &str, depth: usize) {
        if let Some(schema) = schema.as_object() {
            self.map(schema, value, at, depth);
        }
    }

    fn map(&mut self, schema: &SchemaValue, value: &Value, at: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return self.misfit(at, "the schema does not end");
        }
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            match self.catalogue.types.types.get(name) {
                Some(target) => self.value(target, value, at, depth + 1),
                None => self.misfit(at, format!("there is no shared type `{name}`")),
            }
            return;
        }
        if let Some((wanted, nullable)) = type_of(schema)
            && !(nullable && value.is_null())
            && !has_type(value, wanted)
        {
            return self.misfit(at, format!("expected {wanted}, found {}", kind(value)));
        }
        self.literals(schema, value, at);
        match value {
            Value::String(text) => self.string(schema, text, at),
            Value::Number(number) => self.number(schema, number, at),
            Value::Array(items) => self.array(schema, items, at, depth),
            Value::Object(members) => self.object(schema, members, at, depth),
            Value::Null | Value::Bool(_) => {}
        }
        self.unions(schema, value, at, depth);
    }

    fn literals(&mut self, schema: &SchemaValue, value: &Value, at: &str) {
        if let Some(Value::Array(allowed)) = schema.get("enum")
            && !allowed.is_empty()
            && !allowed.iter().any(|literal| same(literal, value))
        {
            let shown: Vec<String> = allowed.iter().map(Value::to_string).collect();
            self.misfit(at, format!("expected one of {}, found {value}", shown.join(", ")));
        }
        if let Some(literal) = schema.get("const")
            && !same(literal, value)
        {
            self.misfit(at, format!("expected {literal}, found {value}"));
        }
    }

    fn string(&mut self, schema: &SchemaValue, text: &str, at: &str) {
        let length = text.chars().count() as u64;
        self.count(schema, ["minLength", "maxLength"], length, "characters", at);
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && let Ok(regex) = Regex::new(pattern)
            && regex.is_match(text, &Steps::default()) != Ok(true)
        {
            self.misfit(at, format!("{text:?} does not match /{pattern}/"));
        }
    }

    fn number(&mut self, schema: &SchemaValue, number: &Number, at: &str) {
        let value = number.as_f64().unwrap_or(f64::NAN);
        for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
            let Some(bound) = schema.get(keyword).and_then(Value::as_f64) else { continue };
            let (sign, holds) = match keyword {
                "minimum" => (">=", value >= bound),
                "maximum" => ("<=", value <= bound),
                "exclusiveMinimum" => (">", value > bound),
                _ => ("<", value < bound),
            };
            if !holds {
                self.misfit(at, format!("expected a number {sign} {bound}, found {number}"));
            }
        }
        if let Some(step) = schema.get("multipleOf").and_then(Value::as_f64)
            && step > 0.0
            && value % step != 0.0
        {
            self.misfit(at, format!("expected a multiple of {step}, found {number}"));
        }
    }

    fn count(&mut self, schema: &SchemaValue, [min, max]: [&str; 2], found: u64, what: &str, at: &str) {
        if let Some(least) = schema.get(min).and_then(Value::as_u64)
            && found < least
        {
            self.misfit(at, format!("expected at least {least} {what}, found {found}"));
        }
        if let Some(most) = schema.get(max).and_then(Value::as_u64)
            && found > most
        {
            self.misfit(at, format!("expected at most {most} {what}, found {found}"));
        }
    }

    fn array(&mut self, schema: &SchemaValue, items: &[Value], at: &str, depth: usize) {
        self.count(schema, ["minItems", "maxItems"], items.len() as u64, "items", at);
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            let twice = items.iter().enumerate().any(|(i, one)| items[..i].iter().any(|two| same(one, two)));
            if twice {
                self.misfit(at, "expected distinct items");
            }
        }
        if let Some(inner) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.value(inner, item, &format!("{at}/{index}"), depth + 1);
            }
        }
    }

    fn object(&mut self, schema: &SchemaValue, members: &SchemaValue, at: &str, depth: usize) {
        self.count(schema, ["minProperties", "maxProperties"], members.len() as u64, "members", at);
        let declared = schema.get("properties").and_then(Value::as_object);
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = name.as_str().filter(|name| !members.contains_key(*name)) {
                self.misfit(at, format!("`{name}` is missing"));
            }
        }
        for (name, member) in members {
            let here = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            if let Some(names) = schema.get("propertyNames").and_then(Value::as_object) {
                self.map(names, &Value::String(name.clone()), &here, depth + 1);
            }
            match (declared.and_then(|declared| declared.get(name)), schema.get("additionalProperties")) {
                (Some(inner), _) => self.value(inner, member, &here, depth + 1),
                (None, Some(Value::Bool(false))) => self.misfit(&here, format!("`{name}` is not declared")),
                (None, Some(inner)) => self.value(inner, member, &here, depth + 1),
                (None, None) => {}
            }
        }
    }

    fn unions(&mut self, schema: &SchemaValue, value: &Value, at: &str, depth: usize) {
        for (keyword, exclusive) in [("anyOf", false), ("oneOf", true)] {
            let branches = branches(schema, keyword);
            if branches.is_empty() {
                continue;
            }
            let fitting = branches.iter().filter(|branch| {
                let mut judge = Judge { catalogue: self.catalogue, misfits: Vec::new() };
                judge.value(branch, value, at, depth + 1);
                judge.misfits.is_empty()
            });
            match fitting.count() {
                0 => self.misfit(at, format!("fits no branch of `{keyword}`")),
                1 => {}
                _ if exclusive => self.misfit(at, "fits more than one branch of `oneOf`"),
                _ => {}
            }
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether the value has the type; `1.0` is an integer, as in JSON Schema.
#[must_use]
pub fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

/// Equality of JSON values: numbers by value, members in any order.
#[must_use]
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests;
