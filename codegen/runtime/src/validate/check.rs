//! The walk over schema and value. It only reads; [`super::normalise`] follows where necessary.

use colibri_pattern::Steps;
use serde_json::{Map, Value};

use super::equality;
use super::issue::{Issue, Issues, MAX_ISSUES};
use super::path::{Place, parts};
use crate::schema::{Additional, ArrayRule, Literal, ObjectRule, RecordRule, Schema, Shape};

/// The text of an issue about a list that holds an item twice.
pub(super) const NOT_UNIQUE: &str = "Items must be unique";

/// Collects issues, or only decides.
pub(super) struct Checker<'s> {
    issues: Issues,
    /// What patterns may still take, for the whole value together.
    steps: &'s Steps,
    failed: bool,
    untidy: bool,
    collects: bool,
}

/// The current place of the walk. `None` is the root.
pub(super) type At<'a> = Option<&'a Place<'a>>;

impl<'s> Checker<'s> {
    pub(super) fn collecting(steps: &'s Steps) -> Self {
        Self { issues: Issues::default(), steps, failed: false, untidy: false, collects: true }
    }

    pub(super) fn deciding(steps: &'s Steps) -> Self {
        Self { collects: false, ..Self::collecting(steps) }
    }

    pub(super) fn steps(&self) -> &'s Steps {
        self.steps
    }

    pub(super) fn failed(&self) -> bool {
        self.failed
    }

    /// Returns whether the value is valid, but lacks defaults or has integers written as fractions.
    pub(super) fn untidy(&self) -> bool {
        self.untidy
    }

    pub(super) fn mark_untidy(&mut self) {
        self.untidy = true;
    }

    pub(super) fn into_issues(self) -> Issues {
        self.issues
    }

    /// Returns whether the verdict is all that is asked for and is known, so that further checks would be useless.
    pub(super) fn full(&self) -> bool {
        self.failed && !self.collects
    }

    pub(super) fn collects(&self) -> bool {
        self.collects
    }

    /// Reports an issue of `schema` itself. Its own message, if the catalogue gives one, replaces the
    /// standard text.
    pub(super) fn report(
        &mut self,
        schema: Option<&Schema>,
        at: At<'_>,
        code: &'static str,
        build: impl FnOnce() -> (String, Vec<(&'static str, Value)>),
    ) {
        self.failed = true;
        if !self.collects {
            return;
        }
        if self.issues.listed.len() >= MAX_ISSUES {
            self.issues.more += 1;
            return;
        }
        let (standard, extra) = build();
        let message = schema.and_then(|schema| schema.message).map_or(standard, str::to_owned);
        self.issues.listed.push(Issue { code, path: parts(at), message, extra });
    }

    /// Checks one value against one schema.
    pub(super) fn node(&mut self, schema: &Schema, value: &Value, at: At<'_>) {
        if schema.nullable && value.is_null() {
            return;
        }
        match (&schema.shape, value) {
            (Shape::Any, _) | (Shape::Null, Value::Null) | (Shape::Boolean, Value::Bool(_)) => {}
            (Shape::Enum(literals), value) => self.literal(schema, literals, value, at),
            (Shape::Union(rule), value) => self.union(schema, rule, value, at),
            (Shape::Integer(rule), Value::Number(number)) => self.integer(schema, rule, number, at),
            (Shape::Number(rule), Value::Number(number)) => self.number(schema, rule, number, at),
            (Shape::String(rule), Value::String(text)) => self.string(schema, rule, text, at),
            (Shape::Array(rule), Value::Array(items)) => self.array(schema, rule, items, at),
            (Shape::Object(rule), Value::Object(members)) => self.object(schema, rule, members, at),
            (Shape::Record(rule), Value::Object(members)) => self.record(schema, rule, members, at),
            (_, value) => self.wrong_type(schema, received(value), at),
        }
    }

    /// Reports that a required value is missing.
    pub(super) fn missing(&mut self, schema: &Schema, at: At<'_>) {
        match &schema.shape {
            Shape::Enum(literals) => self.outside(schema, literals, at),
            Shape::Union(rule) => self.union_missing(schema, rule, at),
            _ => self.wrong_type(schema, "undefined", at),
        }
    }

    fn wrong_type(&mut self, schema: &Schema, received: &str, at: At<'_>) {
        let expected = expected(&schema.shape);
        self.report(Some(schema), at, "invalid_type", || {
            let message = format!("Invalid input: expected {expected}, received {received}");
            (message, vec![("expected", expected.into())])
        });
    }

    fn literal(&mut self, schema: &Schema, literals: &[Literal], value: &Value, at: At<'_>) {
        match literals.iter().find(|literal| equality::is_literal(value, literal)) {
            Some(Literal::Integer(_)) if value.is_f64() => self.untidy = true,
            Some(_) => {}
            None => self.outside(schema, literals, at),
        }
    }

    fn outside(&mut self, schema: &Schema, literals: &[Literal], at: At<'_>) {
        self.report(Some(schema), at, "invalid_value", || {
            let options = literals.iter().map(printed).collect::<Vec<_>>().join("|");
            let message = match literals {
                [_] => format!("Invalid input: expected {options}"),
                _ => format!("Invalid option: expected one of {options}"),
            };
            (message, vec![("values", literals.iter().map(literal_value).collect())])
        });
    }

    fn array(&mut self, schema: &Schema, rule: &ArrayRule, items: &[Value], at: At<'_>) {
        for (index, item) in items.iter().enumerate() {
            if self.full() {
                return;
            }
            self.node(&rule.items, item, Some(&Place::index(at, index)));
        }
        self.size(schema, "array", "items", (rule.min, rule.max), items.len(), at);
        if rule.unique && !equality::all_distinct(items) {
            self.report(Some(schema), at, "custom", || (NOT_UNIQUE.to_owned(), Vec::new()));
        }
    }

    fn object(&mut self, schema: &Schema, rule: &ObjectRule, members: &Map<String, Value>, at: At<'_>) {
        let mut known = 0;
        for property in rule.properties {
            if self.full() {
                return;
            }
            match super::member(members, property.name) {
                Some(value) => {
                    known += 1;
                    self.node(&property.schema, value, Some(&Place::key(at, property.name)));
                }
                None if property.default.is_some() => self.untidy = true,
                None if property.required => {
                    self.missing(&property.schema, Some(&Place::key(at, property.name)));
                }
                None => {}
            }
        }
        if known < members.len() && matches!(rule.additional, Additional::Closed) {
            self.unrecognised(schema, rule, members, at);
        }
    }

    fn unrecognised(&mut self, schema: &Schema, rule: &ObjectRule, members: &Map<String, Value>, at: At<'_>) {
        self.report(Some(schema), at, "unrecognized_keys", || {
            let declared = |key: &str| rule.properties.iter().any(|property| property.name == key);
            let keys: Vec<&str> = members.keys().map(String::as_str).filter(|key| !declared(key)).collect();
            let quoted = keys.iter().map(|key| format!("\"{key}\"")).collect::<Vec<_>>().join(", ");
            let plural = if keys.len() == 1 { "" } else { "s" };
            (format!("Unrecognized key{plural}: {quoted}"), vec![("keys", keys.into())])
        });
    }

    fn record(&mut self, schema: &Schema, rule: &RecordRule, members: &Map<String, Value>, at: At<'_>) {
        for (key, value) in members {
            if self.full() {
                return;
            }
            let place = Place::key(at, key);
            if let Some(keys) = &rule.keys {
                self.record_key(schema, keys, key, Some(&place));
            }
            self.node(&rule.values, value, Some(&place));
        }
        self.size(schema, "object", "properties", (rule.min, rule.max), members.len(), at);
    }
}

/// Returns the name that Zod gives to what a shape expects.
fn expected(shape: &Shape) -> &'static str {
    match shape {
        Shape::Any | Shape::Enum(_) | Shape::Union(_) => "nonoptional",
        Shape::Null => "null",
        Shape::Boolean => "boolean",
        Shape::Integer(_) | Shape::Number(_) => "number",
        Shape::String(_) => "string",
        Shape::Array(_) => "array",
        Shape::Object(_) => "object",
        Shape::Record(_) => "record",
    }
}

fn received(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn printed(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".into(),
        Literal::Boolean(value) => value.to_string(),
        Literal::Integer(value) => value.to_string(),
        Literal::String(value) => format!("\"{value}\""),
    }
}

fn literal_value(literal: &Literal) -> Value {
    match *literal {
        Literal::Null => Value::Null,
        Literal::Boolean(value) => value.into(),
        Literal::Integer(value) => value.into(),
        Literal::String(value) => value.into(),
    }
}
