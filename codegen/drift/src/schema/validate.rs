//! A small validator of its own, which checks every witness before it is published.
//!
//! It works on the schemas as they are written, not on their normal form, so that it also checks the
//! normal form. It returns `None` where it cannot decide.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::node::{Residue, Type};
use super::number::{Known, Num, same};
use super::store::{NodeId, Site, Store};
use super::text::is_annotation;

/// Schemas nested deeper than this are undecided.
const MAX_DEPTH: u32 = 60;

/// Lists of values longer than this are looked up.
const MANY: usize = 16;

type Outcome = Option<bool>;

/// What is known during one check: outcomes of schemas that references lead to, by the part of the value. So a value costs each of
/// them once, however many ways lead there.
#[derive(Default)]
pub(super) struct Checks {
    known: RefCell<HashMap<(u32, Site, *const Value), Outcome>>,
    /// The value that is checked, or one made for the check; an address means the same within one only.
    scope: Cell<u32>,
    scopes: Cell<u32>,
}

impl Checks {
    fn begin(&self) {
        self.known.take();
    }

    /// Checks a value that is gone afterwards.
    fn scoped(&self, check: impl FnOnce() -> Outcome) -> Outcome {
        self.scopes.set(self.scopes.get() + 1);
        let outside = self.scope.replace(self.scopes.get());
        let outcome = check();
        self.scope.set(outside);
        outcome
    }
}

/// Holds if all hold; undecided only if none fails.
fn all(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    let mut decided = Some(true);
    for outcome in outcomes {
        match outcome {
            Some(false) => return Some(false),
            None => decided = None,
            Some(true) => {}
        }
    }
    decided
}

fn any(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    all(outcomes.map(not)).map(|none| !none)
}

fn not(outcome: Outcome) -> Outcome {
    outcome.map(|holds| !holds)
}

/// Holds if `fits` accepts the number of outcomes that hold, for every possible result of the undecided ones.
fn counted(outcomes: impl Iterator<Item = Outcome>, fits: impl Fn(u64) -> bool) -> Outcome {
    let (mut sure, mut open) = (0, 0);
    for outcome in outcomes {
        sure += u64::from(outcome == Some(true));
        open += u64::from(outcome.is_none());
    }
    let first = fits(sure);
    (sure..=sure + open).all(|count| fits(count) == first).then_some(first)
}

impl<'a> Store<'a> {
    /// Returns whether a value fits all schemas of a node.
    pub(crate) fn fits(&self, node: NodeId, value: &Value) -> Outcome {
        self.checks.begin();
        all(self.sites(node).iter().map(|site| self.fits_schema(*site, value, 0)))
    }

    /// Returns whether a value fits what a residue represents.
    pub(crate) fn fits_residue(&self, Residue { site, keyword }: &Residue, value: &Value) -> Outcome {
        let (site, keyword) = (*site, &**keyword);
        self.checks.begin();
        if keyword.is_empty() || keyword == "properties" {
            return self.fits_schema(site, value, 0);
        }
        let schema = self.place(site).schema.as_object()?;
        self.keyword(site, schema, keyword, schema.get(keyword)?, value, 0)
    }

    fn fits_schema(&self, site: Site, value: &Value, depth: u32) -> Outcome {
        if depth > MAX_DEPTH || !self.spend(1) {
            return None;
        }
        match self.place(site).schema {
            Value::Bool(all) => Some(*all),
            Value::Object(schema) if schema.contains_key("$ref") && self.reference_stands_alone(site) => {
                self.keyword(site, schema, "$ref", &schema["$ref"], value, depth)
            }
            Value::Object(schema) => all(schema
                .iter()
                .map(|(keyword, operand)| self.keyword(site, schema, keyword, operand, value, depth))),
            _ => None,
        }
    }

    fn inside(&self, site: Site, schema: &'a Value, value: &Value, depth: u32) -> Outcome {
        self.fits_schema(self.inner(site, schema), value, depth + 1)
    }

    fn keyword(
        &self,
        site: Site,
        schema: &'a Map<String, Value>,
        keyword: &str,
        operand: &'a Value,
        value: &Value,
        depth: u32,
    ) -> Outcome {
        match keyword {
            "type" => Some(has_type(operand, schema.get("nullable") == Some(&Value::Bool(true)), value)),
            "enum" => Some(self.lists(operand, value)?),
            "const" => Some(same(operand, value)),
            "$ref" => self.referred(self.target(site, operand.as_str()?)?, value, depth + 1),
            "allOf" => all(operand.as_array()?.iter().map(|part| self.inside(site, part, value, depth))),
            "anyOf" | "oneOf" if self.are_constants(operand).is_some() => {
                Some(self.are_constants(operand)?.contains(value))
            }
            "anyOf" => any(operand.as_array()?.iter().map(|part| self.inside(site, part, value, depth))),
            "oneOf" => counted(
                operand.as_array()?.iter().map(|part| self.inside(site, part, value, depth)),
                |count| count == 1,
            ),
            "not" => not(self.inside(site, operand, value, depth)),
            "if" => {
                let branch =
                    |name| schema.get(name).map_or(Some(true), |part| self.inside(site, part, value, depth));
                match self.inside(site, operand, value, depth) {
                    Some(true) => branch("then"),
                    Some(false) => branch("else"),
                    None => match (branch("then"), branch("else")) {
                        (Some(one), Some(other)) if one == other => Some(one),
                        _ => None,
                    },
                }
            }
            "$dynamicRef" | "$recursiveRef" | "unevaluatedItems" => None,
            _ => match value {
                Value::Number(_) => number(schema, keyword, operand, value),
                Value::String(text) => self.string(keyword, operand, text),
                Value::Array(items) => self.array(site, schema, keyword, operand, items, depth),
                Value::Object(members) => self.object(site, schema, keyword, operand, members, depth),
                _ => Some(true),
            },
        }
    }

    /// Checks a value against the schema that a reference leads to. One that leads back to itself is undecided.
    fn referred(&self, target: Site, value: &Value, depth: u32) -> Outcome {
        let key = (self.checks.scope.get(), target, std::ptr::from_ref(value));
        if let Some(known) = self.checks.known.borrow().get(&key) {
            return *known;
        }
        self.checks.known.borrow_mut().insert(key, None);
        let outcome = self.fits_schema(target, value, depth);
        self.checks.known.borrow_mut().insert(key, outcome);
        outcome
    }

    /// Returns whether a list of values holds one.
    fn lists(&self, operand: &Value, value: &Value) -> Option<bool> {
        let choices = operand.as_array()?;
        if choices.len() < MANY {
            return Some(choices.iter().any(|choice| same(choice, value)));
        }
        let known = self.remembered(operand, || Some(Known::of(choices)));
        Some(known?.contains(value))
    }

    /// The values of a long union whose branches are each another single value.
    pub(super) fn are_constants(&self, operand: &Value) -> Option<Rc<Known>> {
        let branches = operand.as_array().filter(|branches| branches.len() >= MANY)?;
        self.remembered(operand, || {
            let mut known = Known::default();
            let all = branches.iter().all(|branch| constant(branch).is_some_and(|value| known.insert(value)));
            all.then_some(known)
        })
    }

    fn remembered(&self, operand: &Value, known: impl FnOnce() -> Option<Known>) -> Option<Rc<Known>> {
        let address = std::ptr::from_ref(operand);
        if let Some(known) = self.choices.borrow().get(&address) {
            return known.clone();
        }
        let known = known().map(Rc::new);
        self.choices.borrow_mut().insert(address, known.clone());
        known
    }

    fn string(&self, keyword: &str, operand: &Value, text: &str) -> Outcome {
        match keyword {
            "minLength" => Some(text.chars().count() as u64 >= count(operand)?),
            "maxLength" => Some(text.chars().count() as u64 <= count(operand)?),
            "pattern" => self.matches(operand.as_str()?, text),
            _ => Some(true),
        }
    }

    fn array(
        &self,
        site: Site,
        schema: &'a Map<String, Value>,
        keyword: &str,
        operand: &'a Value,
        items: &[Value],
        depth: u32,
    ) -> Outcome {
        match keyword {
            "minItems" => Some(items.len() as u64 >= count(operand)?),
            "maxItems" => Some(items.len() as u64 <= count(operand)?),
            "uniqueItems" if operand == &Value::Bool(true) => {
                let mut seen = Known::default();
                Some(items.iter().all(|item| seen.insert(item)))
            }
            "prefixItems" | "items" | "additionalItems" => {
                let prefix = prefix(schema);
                match (keyword, operand) {
                    ("prefixItems", Value::Array(parts)) | ("items", Value::Array(parts)) => {
                        all(parts.iter().zip(items).map(|(part, item)| self.inside(site, part, item, depth)))
                    }
                    ("additionalItems", _) if !schema.get("items").is_some_and(Value::is_array) => Some(true),
                    _ => all(items
                        .iter()
                        .skip(prefix.len())
                        .map(|item| self.inside(site, operand, item, depth))),
                }
            }
            "contains" => {
                let least = schema.get("minContains").map_or(Some(1), count)?;
                let most = schema.get("maxContains").map_or(Some(u64::MAX), count)?;
                counted(items.iter().map(|item| self.inside(site, operand, item, depth)), |found| {
                    (least..=most).contains(&found)
                })
            }
            _ => Some(true),
        }
    }

    fn object(
        &self,
        site: Site,
        schema: &'a Map<String, Value>,
        keyword: &str,
        operand: &'a Value,
        members: &Map<String, Value>,
        depth: u32,
    ) -> Outcome {
        let has = |name: &Value| name.as_str().map(|name| members.contains_key(name));
        match keyword {
            "minProperties" => Some(members.len() as u64 >= count(operand)?),
            "maxProperties" => Some(members.len() as u64 <= count(operand)?),
            "required" => match operand {
                Value::Array(names) => all(names.iter().map(has)),
                _ => Some(true),
            },
            "properties" => all(operand.as_object()?.iter().filter_map(|(name, part)| {
                members.get(name).map(|member| self.inside(site, part, member, depth))
            })),
            "patternProperties" => all(operand.as_object()?.iter().flat_map(|(pattern, part)| {
                members.iter().map(move |(name, member)| match self.matches(pattern, name) {
                    Some(true) => self.inside(site, part, member, depth),
                    Some(false) => Some(true),
                    None => None,
                })
            })),
            "additionalProperties" => self.additional(site, schema, operand, members, depth),
            "unevaluatedProperties" if looks_like_additional(schema) => {
                self.additional(site, schema, operand, members, depth)
            }
            "unevaluatedProperties" => None,
            "propertyNames" => all(members.keys().map(|name| {
                let name = Value::String(name.clone());
                self.checks.scoped(|| self.inside(site, operand, &name, depth))
            })),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                all(operand.as_object()?.iter().filter(|(name, _)| members.contains_key(*name)).map(
                    |(_, part)| match part {
                        Value::Array(names) => all(names.iter().map(has)),
                        part => {
                            let whole = Value::Object(members.clone());
                            self.checks.scoped(|| self.inside(site, part, &whole, depth))
                        }
                    },
                ))
            }
            _ => Some(true),
        }
    }

    fn additional(
        &self,
        site: Site,
        schema: &'a Map<String, Value>,
        operand: &'a Value,
        members: &Map<String, Value>,
        depth: u32,
    ) -> Outcome {
        let named = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        all(members.iter().map(|(name, member)| {
            if named.is_some_and(|named| named.contains_key(name)) {
                return Some(true);
            }
            let matched = any(patterns.into_iter().flat_map(Map::keys).map(|p| self.matches(p, name)));
            match matched {
                Some(true) => Some(true),
                Some(false) => self.inside(site, operand, member, depth),
                None => self.inside(site, operand, member, depth).filter(|fits| *fits),
            }
        }))
    }
}

/// A count; drafts allow `2.0`.
pub(crate) fn count(operand: &Value) -> Option<u64> {
    Num::of(operand).and_then(Num::floor).and_then(|count| u64::try_from(count).ok())
}

/// Returns the schemas of the first items, in the spelling of any draft.
pub(crate) fn prefix(schema: &Map<String, Value>) -> &[Value] {
    match (schema.get("prefixItems"), schema.get("items")) {
        (Some(Value::Array(parts)), _) | (None, Some(Value::Array(parts))) => parts,
        _ => &[],
    }
}

/// Returns whether `unevaluatedProperties` means the same as `additionalProperties`: nothing else looks at properties.
pub(crate) fn looks_like_additional(schema: &Map<String, Value>) -> bool {
    const OTHERS: [&str; 10] = [
        "additionalProperties",
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependentSchemas",
        "dependencies",
    ];
    !OTHERS.iter().any(|keyword| schema.contains_key(*keyword))
}

/// The value of a schema that takes this one alone, with its type or a text at most.
fn constant(schema: &Value) -> Option<&Value> {
    let members = schema.as_object()?;
    let value = members.get("const")?;
    let speaks_of_it = |(keyword, operand): (&String, &Value)| match keyword.as_str() {
        "const" => true,
        "type" => has_type(operand, false, value),
        other => other != "nullable" && is_annotation(other),
    };
    members.iter().all(speaks_of_it).then_some(value)
}

fn has_type(operand: &Value, nullable: bool, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("integer") => Num::of(value).is_some_and(Num::is_whole),
        Some(name) => Type::of(value).name() == name,
        None => false,
    };
    nullable && value.is_null()
        || match operand {
            Value::Array(names) => names.iter().any(is),
            name => is(name),
        }
}

fn number(schema: &Map<String, Value>, keyword: &str, operand: &Value, value: &Value) -> Outcome {
    let value = Num::of(value)?;
    let open = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(true)); // draft 4
    match keyword {
        "minimum" if open("exclusiveMinimum") => Some(value.compare(Num::of(operand)?).is_gt()),
        "maximum" if open("exclusiveMaximum") => Some(value.compare(Num::of(operand)?).is_lt()),
        "minimum" => Some(value.compare(Num::of(operand)?).is_ge()),
        "maximum" => Some(value.compare(Num::of(operand)?).is_le()),
        "exclusiveMinimum" if !operand.is_boolean() => Some(value.compare(Num::of(operand)?).is_gt()),
        "exclusiveMaximum" if !operand.is_boolean() => Some(value.compare(Num::of(operand)?).is_lt()),
        "multipleOf" => value.is_multiple_of(Num::of(operand)?),
        _ => Some(true),
    }
}
