//! Schemas as text: only what affects their meaning is kept, and references are followed. Equal texts mean the
//! same.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::store::{NodeId, Site, Store};

/// Longer texts are not built; such a schema never counts as equal to another.
const MAX_TEXT: usize = 40_000;

/// Schemas inside each other, after which no text is built either.
const MAX_OPEN: usize = 128;

/// Keywords that do not affect which values a schema accepts.
pub(crate) const ANNOTATIONS: [&str; 19] = [
    "$schema",
    "$id",
    "id",
    "$comment",
    "$anchor",
    "$defs",
    "definitions",
    "$vocabulary",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "then",
    "else",
    "nullable",
];

/// Keywords with one schema.
const ONE: [&str; 11] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];

/// Keywords with a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords with a schema for each name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];

/// Keywords whose operands do not contain schemas.
const PLAIN: [&str; 21] = [
    "type",
    "enum",
    "const",
    "$ref",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "required",
    "minContains",
    "maxContains",
];

/// Returns whether the comparison knows a keyword, if only as an annotation.
pub(crate) fn is_known(keyword: &str) -> bool {
    is_annotation(keyword)
        || keyword == "dependentRequired"
        || [&ONE[..], &LIST[..], &NAMED[..], &PLAIN[..]].iter().any(|group| group.contains(&keyword))
}

pub(crate) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
}

/// Writes a value as text that does not depend on the order of members.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members: BTreeSet<String> = members
                .iter()
                .map(|(key, value)| format!("{}:{}", Value::String(key.clone()), canonical(value)))
                .collect();
            format!("{{{}}}", members.into_iter().collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

impl<'a> Store<'a> {
    /// Returns the meaning of a schema as text; `None` when it would be too long.
    pub(crate) fn text(&self, site: Site) -> Option<Rc<str>> {
        if let Some(known) = self.texts.borrow().get(&site) {
            return known.clone();
        }
        let mut writer =
            Writer { store: self, out: String::new(), open: Vec::new(), returned_to: usize::MAX };
        let text = writer.schema(site).map(|()| Rc::from(writer.out));
        self.texts.borrow_mut().insert(site, text.clone());
        text
    }

    /// Returns the text of some keywords of a schema.
    pub(crate) fn text_of(&self, site: Site, keywords: &[&str]) -> Option<Rc<str>> {
        let schema = self.place(site).schema.as_object()?;
        let mut writer =
            Writer { store: self, out: String::new(), open: vec![site], returned_to: usize::MAX };
        for keyword in keywords {
            if let Some(operand) = schema.get(*keyword) {
                let _ = write!(writer.out, "{keyword}:");
                writer.operand(site, keyword, operand)?;
            }
        }
        Some(Rc::from(writer.out))
    }

    /// Returns whether the texts of two nodes are the same.
    pub(crate) fn reads_same(&self, one: NodeId, other: NodeId) -> bool {
        let texts = |node| -> Option<BTreeSet<Rc<str>>> {
            self.sites(node).iter().map(|site| self.text(*site)).collect()
        };
        one == other || texts(one).is_some_and(|one| Some(one) == texts(other))
    }
}

struct Writer<'s, 'a> {
    store: &'s Store<'a>,
    out: String,
    /// The enclosing schemas, for references that lead back into one of them.
    open: Vec<Site>,
    /// The outermost of them to which a reference has led back.
    returned_to: usize,
}

impl<'a> Writer<'_, 'a> {
    fn schema(&mut self, site: Site) -> Option<()> {
        if self.out.len() > MAX_TEXT || self.open.len() > MAX_OPEN || !self.store.spend(1) {
            return None;
        }
        if let Some(at) = self.open.iter().rposition(|open| *open == site) {
            let _ = write!(self.out, "@{}", self.open.len() - at);
            self.returned_to = self.returned_to.min(at);
            return Some(());
        }
        if let Some(known) = self.store.closed_texts.borrow().get(&site) {
            self.out.push_str(known);
            return Some(());
        }
        if self.store.texts.borrow().get(&site) == Some(&None) {
            return None;
        }
        let (start, outside) = (self.out.len(), std::mem::replace(&mut self.returned_to, usize::MAX));
        self.open.push(site);
        match self.store.place(site).schema {
            Value::Object(schema) => self.members(site, schema)?,
            other => self.out.push_str(&canonical(other)),
        }
        self.open.pop();
        // The text is the same inside any schema, unless a reference leads out of this one.
        if self.returned_to >= self.open.len() {
            let text: Rc<str> = Rc::from(self.out.get(start..)?);
            self.store.closed_texts.borrow_mut().insert(site, text);
            self.returned_to = outside;
        } else {
            self.returned_to = self.returned_to.min(outside);
        }
        Some(())
    }

    fn members(&mut self, site: Site, schema: &'a Map<String, Value>) -> Option<()> {
        if let (Some(Value::String(reference)), true) =
            (schema.get("$ref"), schema.keys().all(|key| key == "$ref" || is_annotation(key)))
        {
            return self.reference(site, reference);
        }
        let mut keywords: Vec<_> = schema
            .iter()
            .filter(|(keyword, _)| {
                !is_annotation(keyword) || ["then", "else", "nullable"].contains(&keyword.as_str())
            })
            .collect();
        keywords.sort_by_key(|(keyword, _)| *keyword);
        self.out.push('{');
        for (keyword, operand) in keywords {
            let _ = write!(self.out, "{keyword}:");
            self.operand(site, keyword, operand)?;
            self.out.push(',');
        }
        self.out.push('}');
        Some(())
    }

    fn operand(&mut self, site: Site, keyword: &str, operand: &'a Value) -> Option<()> {
        match operand {
            Value::String(reference) if keyword == "$ref" => self.reference(site, reference),
            Value::Array(parts) if LIST.contains(&keyword) || keyword == "items" => {
                self.list(site, parts, keyword != "prefixItems" && keyword != "items")
            }
            Value::Object(parts) if NAMED.contains(&keyword) => self.named(site, parts),
            Value::Object(_) | Value::Bool(_) if ONE.contains(&keyword) => {
                self.schema(self.store.inner(site, operand))
            }
            Value::Array(names) if ["enum", "required", "type"].contains(&keyword) => {
                let names: BTreeSet<String> = names.iter().map(canonical).collect();
                let _ = write!(self.out, "{names:?}");
                Some(())
            }
            other => {
                self.out.push_str(&canonical(other));
                Some(())
            }
        }
    }

    fn reference(&mut self, site: Site, reference: &str) -> Option<()> {
        self.schema(self.store.target(site, reference)?)
    }

    fn list(&mut self, site: Site, parts: &'a [Value], any_order: bool) -> Option<()> {
        let mut texts = Vec::with_capacity(parts.len());
        for part in parts {
            let before = std::mem::take(&mut self.out);
            self.schema(self.store.inner(site, part))?;
            texts.push(std::mem::replace(&mut self.out, before));
        }
        if any_order {
            texts.sort();
        }
        let _ = write!(self.out, "{texts:?}");
        (self.out.len() <= MAX_TEXT).then_some(())
    }

    fn named(&mut self, site: Site, parts: &'a Map<String, Value>) -> Option<()> {
        let mut parts: Vec<_> = parts.iter().collect();
        parts.sort_by_key(|(name, _)| *name);
        self.out.push('{');
        for (name, part) in parts {
            let _ = write!(self.out, "{name:?}:");
            match part {
                Value::Array(_) => self.out.push_str(&canonical(part)),
                part => self.schema(self.store.inner(site, part))?,
            }
        }
        self.out.push('}');
        Some(())
    }
}

/// Collects the unknown keywords anywhere in a schema.
pub(crate) fn unknown_keywords(schema: &Value, out: &mut BTreeSet<String>) {
    let Value::Object(members) = schema else { return };
    for (keyword, operand) in members {
        match operand {
            Value::Object(parts)
                if NAMED.contains(&keyword.as_str())
                    || ["$defs", "definitions"].contains(&keyword.as_str()) =>
            {
                parts.values().for_each(|part| unknown_keywords(part, out));
            }
            Value::Array(parts) if LIST.contains(&keyword.as_str()) || keyword == "items" => {
                parts.iter().for_each(|part| unknown_keywords(part, out));
            }
            part if ONE.contains(&keyword.as_str()) => unknown_keywords(part, out),
            operand if !is_known(keyword) => {
                out.insert(format!("`{keyword}`: {}", canonical(operand)));
            }
            _ => {}
        }
    }
}
