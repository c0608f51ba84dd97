//! Values of a schema, small ones first, from which witnesses are built.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::contain::numbers;
use super::node::{Arrays, Body, Case, Objects};
use super::number::same;
use super::store::{NodeId, Store};

/// Values kept for a schema.
const MAX_SAMPLES: usize = 12;
/// Schemas nested deeper than this give no values.
const MAX_DEPTH: usize = 12;
/// Arrays and objects are not made larger than this.
const MAX_LENGTH: u64 = 10_000;

impl Store<'_> {
    /// Some values that fit a node, each of them checked.
    pub(crate) fn samples(&self, node: NodeId) -> Rc<Vec<Value>> {
        if let Some(known) = self.samples.borrow().get(&node) {
            return known.clone();
        }
        if self.sampling.borrow().contains(&node) || self.sampling.borrow().len() > MAX_DEPTH || !self.step()
        {
            return Rc::default();
        }
        self.sampling.borrow_mut().push(node);
        let normal = self.normal(node);
        let each: Vec<Vec<Value>> = normal.cases.iter().map(|case| self.case_samples(case)).collect();
        // In turns, so that every case gives values.
        let longest = each.iter().map(Vec::len).max().unwrap_or(0);
        let mut found: Vec<Value> = Vec::new();
        for turn in 0..longest {
            for value in each.iter().filter_map(|values| values.get(turn)) {
                if found.len() < MAX_SAMPLES && self.fits(node, value) == Some(true) && !found.contains(value)
                {
                    found.push(value.clone());
                }
            }
        }
        self.sampling.borrow_mut().pop();
        let found = Rc::new(found);
        self.samples.borrow_mut().insert(node, found.clone());
        found
    }

    /// Values of a case's body, without its residue.
    pub(crate) fn case_samples(&self, case: &Case) -> Vec<Value> {
        match &case.body {
            Body::Values(values) => values.iter().take(2 * MAX_SAMPLES).cloned().collect(),
            Body::Number(range) => {
                numbers::samples(range).into_iter().filter_map(|number| number.value()).collect()
            }
            Body::Text(texts) => self.text_samples(texts),
            Body::Array(arrays) => self.array_samples(arrays),
            Body::Object(objects) => self.object_samples(objects),
        }
    }

    fn array_samples(&self, arrays: &Arrays) -> Vec<Value> {
        let mut found = self.arrays_of(arrays, arrays.least);
        for index in 0..=arrays.prefix.len() {
            for item in self.samples(arrays.item(index)).iter().take(6) {
                found.extend(self.array_with(arrays, index, item));
            }
        }
        found.extend(self.arrays_of(arrays, arrays.least.max(2)));
        if let Some(item) = self.samples(arrays.item(0)).first() {
            found.push(json!([item, item]));
        }
        found
    }

    /// Arrays of a length, if the schema allows it.
    pub(super) fn arrays_of(&self, arrays: &Arrays, length: u64) -> Vec<Value> {
        if arrays.most.is_some_and(|most| length > most) || length > MAX_LENGTH {
            return Vec::new();
        }
        let mut items: Vec<Value> = Vec::new();
        for index in 0..usize::try_from(length).unwrap_or_default() {
            match self.next_item(arrays, index, &items) {
                Some(item) => items.push(item),
                None => return Vec::new(),
            }
        }
        vec![Value::Array(items)]
    }

    fn next_item(&self, arrays: &Arrays, index: usize, before: &[Value]) -> Option<Value> {
        let samples = self.samples(arrays.item(index));
        let fresh = |item: &&Value| !arrays.unique || !before.iter().any(|known| same(known, item));
        if let Some(item) = samples.iter().find(fresh) {
            return Some(item.clone());
        }
        let fits = |item: &Value| fresh(&item) && self.fits(arrays.item(index), item) == Some(true);
        (0..200).map(|n| json!(n)).chain((0..200).map(|n| json!(format!("item{n}")))).find(fits)
    }

    /// Arrays with a given item at an index.
    pub(crate) fn array_with(&self, arrays: &Arrays, index: usize, item: &Value) -> Vec<Value> {
        let mut items = match self.arrays_of(arrays, index as u64).pop() {
            Some(Value::Array(items)) => items,
            _ => return Vec::new(),
        };
        items.push(item.clone());
        while (items.len() as u64) < arrays.least.min(MAX_LENGTH) {
            match self.next_item(arrays, items.len(), &items) {
                Some(item) => items.push(item),
                None => return Vec::new(),
            }
        }
        vec![Value::Array(items)]
    }

    fn object_samples(&self, objects: &Objects) -> Vec<Value> {
        const MOST: usize = 8 * MAX_SAMPLES;
        let mut found = self.objects_with(objects, &[]);
        for name in objects.properties.keys() {
            if found.len() >= MOST {
                break;
            }
            for value in self.samples(self.child(objects, name)).iter().take(4) {
                found.extend(self.objects_with(objects, &[(name, value)]));
            }
        }
        for (pattern, node) in &objects.patterns {
            for name in self.fresh_names(&[objects], Some(pattern)) {
                for value in self.samples(*node).iter().take(2) {
                    found.extend(self.objects_with(objects, &[(&name, value)]));
                }
            }
        }
        for name in self.fresh_names(&[objects], None).iter().take(1) {
            for value in self.samples(objects.additional).iter().take(3) {
                found.extend(self.objects_with(objects, &[(name, value)]));
            }
        }
        found.truncate(MOST);
        found
    }

    /// Objects with given properties: one with the required properties alone, and one with all of them.
    pub(crate) fn objects_with(&self, objects: &Objects, given: &[(&str, &Value)]) -> Vec<Value> {
        if !self.spend(1 + objects.properties.len() as u64) {
            return Vec::new();
        }
        let given: Map<String, Value> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect();
        let mut least = given.clone();
        for name in &objects.required {
            if least.contains_key(name) {
                continue;
            }
            match self.samples(self.child(objects, name)).first() {
                Some(value) => least.insert(name.clone(), value.clone()),
                None => return Vec::new(),
            };
        }
        let mut full = least.clone();
        self.fill(objects, &mut least, objects.least);
        self.fill(objects, &mut full, objects.properties.len() as u64);
        let mut found = vec![Value::Object(least)];
        if !found.contains(&Value::Object(full.clone())) {
            found.push(Value::Object(full));
        }
        found
    }

    /// Objects without one property.
    pub(super) fn objects_without(&self, objects: &Objects, name: &str) -> Vec<Value> {
        let mut found = self.objects_with(objects, &[]);
        for object in &mut found {
            if let Value::Object(members) = object {
                members.shift_remove(name);
                if (members.len() as u64) < objects.least {
                    for fresh in self.fresh_names(&[objects], None) {
                        if let Some(value) = self.samples(self.child(objects, &fresh)).first() {
                            members.insert(fresh, value.clone());
                        }
                    }
                }
            }
        }
        found
    }

    /// Objects with at least so many properties.
    pub(super) fn objects_of(&self, objects: &Objects, length: u64) -> Vec<Value> {
        let mut found = self.objects_with(objects, &[]);
        for object in &mut found {
            if let Value::Object(members) = object {
                self.fill(objects, members, length);
            }
        }
        found
    }

    fn fill(&self, objects: &Objects, members: &mut Map<String, Value>, length: u64) {
        let length = length.min(MAX_LENGTH).min(objects.most.unwrap_or(u64::MAX));
        let named = objects.properties.keys().cloned();
        let fresh = (1..=length).map(|n| format!("extra{n}")).chain(self.fresh_names(&[objects], None));
        for name in named.chain(fresh) {
            if members.len() as u64 >= length {
                return;
            }
            if members.contains_key(&name) || self.fits(objects.names, &json!(name)) == Some(false) {
                continue;
            }
            if let Some(value) = self.samples(self.child(objects, &name)).first() {
                members.insert(name, value.clone());
            }
        }
    }

    /// Names that the schema does not list. With a pattern they match it; without one they match no pattern.
    pub(crate) fn fresh_names(&self, all: &[&Objects], pattern: Option<&str>) -> Vec<String> {
        let mut found: Vec<String> = ["extra", "x", "other", "a1", "B", "0"].map(str::to_owned).to_vec();
        if let Some(pattern) = pattern {
            let texts =
                super::node::Texts { patterns: [pattern.to_owned()].into(), ..super::node::Texts::default() };
            found.extend(
                self.text_samples(&texts).into_iter().filter_map(|name| name.as_str().map(str::to_owned)),
            );
        }
        for objects in all {
            let names = self.samples(objects.names);
            found.extend(names.iter().filter_map(Value::as_str).take(6).map(str::to_owned));
        }
        let matches = |name: &str, pattern: &str| self.matches(pattern, name) == Some(true);
        found.retain(|name| {
            let right = match pattern {
                Some(pattern) => matches(name, pattern),
                None => !all.iter().any(|o| o.patterns.iter().any(|(pattern, _)| matches(name, pattern))),
            };
            right
                && all.iter().all(|objects| !objects.properties.contains_key(name))
                && all.first().is_none_or(|objects| self.fits(objects.names, &json!(name)) != Some(false))
        });
        found.truncate(4);
        found
    }
}
