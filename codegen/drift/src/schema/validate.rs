//! A small validator of its own, which checks every witness before it is published.
//!
//! It works on the schemas as they are written, not on their normal form, so that it also checks the
//! normal form. It returns `None` where it cannot decide.

use serde_json::{Map, Value};

use super::node::{Residue, Type};
use super::number::{Num, same};
use super::store::{NodeId, Site, Store};

/// Schemas nested deeper than this are undecided.
const MAX_DEPTH: u32 = 60;

type Outcome = Option<bool>;

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
        all(self.sites(node).iter().map(|site| self.fits_schema(*site, value, 0)))
    }

    /// Returns whether a value fits what a residue represents.
    pub(crate) fn fits_residue(&self, Residue { site, keyword }: &Residue, value: &Value) -> Outcome {
        let (site, keyword) = (*site, &**keyword);
        if keyword.is_empty() || keyword == "properties" {
            return self.fits_schema(site, value, 0);
        }
        let schema = self.place(site).schema.as_object()?;
        self.keyword(site, schema, keyword, schema.get(keyword)?, value, 0)
    }

    fn fits_schema(&self, site: Site, value: &Value, depth: u32) -> Outcome {
        if depth > MAX_DEPTH {
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
            "enum" => Some(operand.as_array()?.iter().any(|choice| same(choice, value))),
            "const" => Some(same(operand, value)),
            "$ref" => self.fits_schema(self.target(site, operand.as_str()?)?, value, depth + 1),
            "allOf" => all(operand.as_array()?.iter().map(|part| self.inside(site, part, value, depth))),
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
            "uniqueItems" if operand == &Value::Bool(true) => Some(
                items.iter().enumerate().all(|(at, item)| !items[..at].iter().any(|other| same(item, other))),
            ),
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
            "propertyNames" => all(members
                .keys()
                .map(|name| self.inside(site, operand, &Value::String(name.clone()), depth))),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                all(operand.as_object()?.iter().filter(|(name, _)| members.contains_key(*name)).map(
                    |(_, part)| match part {
                        Value::Array(names) => all(names.iter().map(has)),
                        part => self.inside(site, part, &Value::Object(members.clone()), depth),
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
