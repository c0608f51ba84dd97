//! Changes that no validator checks but clients rely on: defaults and descriptions, and names of new
//! arguments that a person should review.

use serde_json::Value;

use super::{Spot, Walk};
use crate::rules::inputs;
use crate::schema::contain::Verdict;
use crate::schema::node::{Body, Type};
use crate::schema::store::{NodeId, Site, Store};

/// References and merged schemas that are followed for a remark.
const MAX_DEPTH: u32 = 8;

impl Walk<'_, '_> {
    pub(super) fn remarks(&mut self, spot: &Spot) {
        if !self.is_input() {
            return;
        }
        let of = |keyword| (self.store.remark(spot.old, keyword), self.store.remark(spot.new, keyword));
        let (old, new) = of("default");
        if old != new {
            let difference =
                self.difference(spot, shown(old, "default"), shown(new, "default"), Verdict::Inside);
            self.push(inputs::default(difference, spot.may_be_absent));
        }
        let (old, new) = of("description");
        if old != new {
            let [old, new] = [old, new].map(|text| text.cloned().unwrap_or_default());
            let difference = self.difference(spot, old, new, Verdict::Inside);
            self.push(inputs::description(difference));
        }
    }

    /// An added argument whose name or format suggests a secret, a path, an address or a command.
    pub(super) fn suspicious(&mut self, spot: &Spot, name: &str) {
        let format = self.store.remark(spot.new, "format").and_then(Value::as_str);
        if !self.store.holds_text(spot.new, true) {
            return;
        }
        if let Some(kind) = inputs::kind(name, format) {
            let difference = self.difference(spot, Value::Null, self.written(spot.new), Verdict::Inside);
            self.push(inputs::far_reaching(difference, kind));
        }
    }

    /// A node as it is written; several places as a list.
    pub(super) fn written(&self, node: NodeId) -> Value {
        match &*self.store.sites(node) {
            [] => Value::Bool(true),
            [site] => self.store.place(*site).schema.clone(),
            sites => sites.iter().map(|site| self.store.place(*site).schema.clone()).collect(),
        }
    }
}

fn shown(value: Option<&Value>, keyword: &str) -> Value {
    value.map_or(Value::Null, |value| serde_json::json!({ keyword: value }))
}

impl<'a> Store<'a> {
    /// The operand of an annotation, with references followed.
    pub(super) fn remark(&self, node: NodeId, keyword: &str) -> Option<&'a Value> {
        self.sites(node).iter().find_map(|site| self.remark_at(*site, keyword, 0))
    }

    fn remark_at(&self, site: Site, keyword: &str, depth: u32) -> Option<&'a Value> {
        let schema = self.place(site).schema.as_object()?;
        if !self.spend(1) {
            return None;
        }
        if depth > MAX_DEPTH || schema.contains_key(keyword) {
            return schema.get(keyword);
        }
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|reference| self.target(site, reference));
        // A union of one schema means that schema.
        let only = |keyword| schema.get(keyword).and_then(Value::as_array).filter(|parts| parts.len() == 1);
        let all = schema.get("allOf").and_then(Value::as_array);
        let parts = all.into_iter().chain(only("anyOf")).chain(only("oneOf")).flatten();
        let parts = parts.map(|part| self.inner(site, part));
        target.into_iter().chain(parts).find_map(|site| self.remark_at(site, keyword, depth + 1))
    }

    /// Checks whether a schema says anything about properties that it does not name, with references and unions followed.
    pub(super) fn speaks_of_others(&self, node: NodeId) -> bool {
        self.sites(node).iter().any(|site| self.speaks_of_others_at(*site, 0))
    }

    fn speaks_of_others_at(&self, site: Site, depth: u32) -> bool {
        const KEYWORDS: [&str; 4] =
            ["additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"];
        let Some(schema) = self.place(site).schema.as_object() else { return false };
        if depth > MAX_DEPTH || !self.spend(1) || KEYWORDS.iter().any(|keyword| schema.contains_key(*keyword))
        {
            return true;
        }
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|reference| self.target(site, reference));
        let parts =
            ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
        let parts = parts.flatten().map(|part| self.inner(site, part));
        target.into_iter().chain(parts).any(|site| self.speaks_of_others_at(site, depth + 1))
    }

    /// Checks whether a value can be a text, or a list of texts.
    fn holds_text(&self, node: NodeId, lists: bool) -> bool {
        self.normal(node).cases.iter().any(|case| match &case.body {
            Body::Array(arrays) => lists && self.holds_text(arrays.item(0), false),
            _ => case.kind == Type::String,
        })
    }
}
