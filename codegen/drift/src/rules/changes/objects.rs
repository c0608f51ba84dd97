//! Differences between objects: properties that are added, removed or changed, and rules for all of them.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::embed::Step;
use super::{Spot, Walk, sides};
use crate::rules::{inputs, outputs};
use crate::schema::contain::{ObjectRule, Trial};
use crate::schema::node::Objects;
use crate::schema::number::same;
use crate::schema::store::NodeId;

impl Walk<'_, '_> {
    pub(super) fn objects(&mut self, spot: &Spot, old: &Objects, new: &Objects) {
        let names: BTreeSet<&String> = old.properties.keys().chain(new.properties.keys()).collect();
        let renames = self.renames(old, new);
        let is_new_name = |name: &String| renames.iter().any(|(_, to)| *to == name);
        for name in names {
            if let Some(rename) = renames.iter().find(|(from, _)| *from == name) {
                self.renamed(spot, *rename, old, new);
                continue;
            }
            if is_new_name(name) {
                continue;
            }
            let children = (self.store.child(old, name), self.store.child(new, name));
            let segment = format!("properties/{}", name.replace('~', "~0").replace('/', "~1"));
            let step = Some(Step::Property(name.clone()));
            let mut child = spot.below(children.0, children.1, &segment, spot.place_of(name), step);
            child.may_be_absent = !old.required.contains(name);
            match (old.properties.contains_key(name), new.properties.contains_key(name)) {
                (false, _) if self.is_crowded() => {
                    if self.is_input() {
                        self.suspicious(&child, name);
                    }
                }
                (true, false) if self.is_crowded() => {}
                (true, true) => self.pair(&child),
                (false, _) => self.property_added(spot, &child, name, old, new),
                (true, false) => self.property_removed(spot, &child, name, old, new),
            }
        }
        let is_old_name = |name: &String| renames.iter().any(|(from, _)| *from == name);
        let duties = old.required.symmetric_difference(&new.required);
        for name in duties.filter(|name| !is_old_name(name) && !is_new_name(name)) {
            if self.is_crowded() {
                break;
            }
            self.required(spot, name, old, new);
        }
        self.rest(spot, old, new);
        for rule in [ObjectRule::Least, ObjectRule::Most] {
            let (loss, gain) = self.trials(rule, old, new);
            let Some(verdict) = self.verdict(spot, loss, gain) else { continue };
            let difference = self.difference(spot, counted(rule, old), counted(rule, new), verdict);
            self.push(if self.is_input() { inputs::bound(difference) } else { outputs::bound(difference) });
        }
        if !self.store.reads_same(old.names, new.names) {
            self.condition(spot, ObjectRule::Names, "propertyNames", old, new);
        }
    }

    pub(super) fn trials(&self, rule: ObjectRule<'_>, old: &Objects, new: &Objects) -> (Trial, Trial) {
        let (giver, taker) = sides(self.direction, old, new);
        (self.store.object_inside(rule, giver, taker), self.store.object_inside(rule, taker, giver))
    }

    fn property_added(&mut self, spot: &Spot, child: &Spot, name: &str, old: &Objects, new: &Objects) {
        let was_open = !self.store.is_never(child.old);
        if !was_open && self.store.is_never(child.new) {
            return;
        }
        let verdict = self.loss(spot, ObjectRule::Property(name), old, new);
        let difference = self.difference(child, Value::Null, self.written(child.new), verdict);
        if !self.is_input() {
            return self.push(outputs::added(difference, was_open));
        }
        self.suspicious(child, name);
        if !new.required.contains(name) {
            let by_default = !self.store.speaks_of_others(spot.old);
            self.push(inputs::added(difference, was_open, by_default));
        }
    }

    fn property_removed(&mut self, spot: &Spot, child: &Spot, name: &str, old: &Objects, new: &Objects) {
        let is_open = !self.store.is_never(child.new);
        if !is_open && self.store.is_never(child.old) {
            return;
        }
        let verdict = self.loss(spot, ObjectRule::Property(name), old, new);
        let difference = self.difference(child, self.written(child.old), Value::Null, verdict);
        if self.is_input() {
            self.push(inputs::removed(difference, is_open));
        } else if !old.required.contains(name) {
            self.push(outputs::removed(difference));
        }
    }

    /// Checks whether a value is lost under one rule.
    fn loss(&self, spot: &Spot, rule: ObjectRule<'_>, old: &Objects, new: &Objects) -> super::Verdict {
        if spot.safe { super::Verdict::Inside } else { self.settle(spot, self.trials(rule, old, new).0) }
    }

    fn required(&mut self, spot: &Spot, name: &str, old: &Objects, new: &Objects) {
        let added = new.required.contains(name);
        let kept = old.properties.contains_key(name) == new.properties.contains_key(name);
        let (loss, gain) = self.trials(ObjectRule::Required(name), old, new);
        let Some(verdict) = self.verdict(spot, loss, gain) else { return };
        let state = |is: bool| json!({ "required": is });
        let mut difference = self.difference(spot, state(!added), state(added), verdict);
        difference.pointer =
            format!("{}/properties/{}", spot.pointer, name.replace('~', "~0").replace('/', "~1"));
        difference.place = spot.place_of(name);
        let kept_default = self.kept_default(name, old, new);
        match (self.is_input(), added) {
            (true, true) => self.push(match kept_default {
                Some(default) => inputs::required_with_default(difference, default),
                None => inputs::required(difference, !old.properties.contains_key(name)),
            }),
            (true, false) if kept => self.push(inputs::made_optional(difference)),
            (true, false) => {}
            (false, true) => self.push(outputs::made_required(difference)),
            (false, false) => {
                self.push(outputs::no_longer_required(difference, !new.properties.contains_key(name)))
            }
        }
    }

    /// The default of a property, if both sides have the same.
    fn kept_default(&self, name: &str, old: &Objects, new: &Objects) -> Option<&Value> {
        let default = |objects: &Objects| {
            let property = objects.properties.get(name)?;
            self.store.remark(*property, "default")
        };
        default(old).filter(|before| default(new).is_some_and(|after| same(before, after)))
    }

    /// Properties that are not named.
    fn rest(&mut self, spot: &Spot, old: &Objects, new: &Objects) {
        let closed = (self.store.is_never(old.additional), self.store.is_never(new.additional));
        let fresh = |walk: &Self, pattern: Option<&str>| {
            let (giver, taker) = sides(walk.direction, old, new);
            let name = walk.store.fresh_names(&[giver, taker], pattern).first().cloned();
            Some(Step::Property(name.unwrap_or_else(|| "extra".to_owned())))
        };
        if closed.0 != closed.1 {
            let (loss, gain) = self.trials(ObjectRule::Rest, old, new);
            if let Some(verdict) = self.verdict(spot, loss, gain) {
                let state = |node| json!({ "additionalProperties": self.written(node) });
                let difference = self.difference(spot, state(old.additional), state(new.additional), verdict);
                self.push(if self.is_input() {
                    inputs::closed_or_opened(difference)
                } else {
                    outputs::closed_or_opened(difference)
                });
            }
        } else if old.additional != new.additional && !closed.0 {
            let step = fresh(self, None);
            let place = spot.place_of("*");
            self.pair(&spot.below(old.additional, new.additional, "additionalProperties", place, step));
        }
        let shared: HashMap<&String, NodeId> =
            new.patterns.iter().rev().map(|(pattern, node)| (pattern, *node)).collect();
        for (pattern, node) in &old.patterns {
            if let Some(other) = shared.get(pattern) {
                let step = fresh(self, Some(pattern));
                let segment = format!("patternProperties/{}", pattern.replace('~', "~0").replace('/', "~1"));
                self.pair(&spot.below(*node, *other, &segment, spot.place_of(&format!("/{pattern}/")), step));
            }
        }
        if !old.patterns.iter().map(|(p, _)| p).eq(new.patterns.iter().map(|(p, _)| p)) {
            self.condition(spot, ObjectRule::Rest, "patternProperties", old, new);
        }
    }

    fn condition(&mut self, spot: &Spot, rule: ObjectRule<'_>, keyword: &str, old: &Objects, new: &Objects) {
        let (loss, gain) = self.trials(rule, old, new);
        let Some(verdict) = self.verdict(spot, loss, gain) else { return };
        let shown = |objects: &Objects| match rule {
            ObjectRule::Names if objects.names == NodeId::ANY => Value::Null,
            ObjectRule::Names => json!({ keyword: self.written(objects.names) }),
            _ if objects.patterns.is_empty() => Value::Null,
            _ => json!({ keyword: objects.patterns.iter().map(|(pattern, _)| pattern).collect::<Vec<_>>() }),
        };
        let difference = self.difference(spot, shown(old), shown(new), verdict);
        self.push(if self.is_input() { inputs::condition(difference) } else { outputs::bound(difference) });
    }
}

fn counted(rule: ObjectRule<'_>, objects: &Objects) -> Value {
    match rule {
        ObjectRule::Least if objects.least > 0 => json!({ "minProperties": objects.least }),
        ObjectRule::Most => objects.most.map_or(Value::Null, |most| json!({ "maxProperties": most })),
        _ => Value::Null,
    }
}
