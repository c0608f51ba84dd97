//! Objects: which properties must, may and must not be there, and how many.

use serde_json::{Value, json};

use super::{Trial, Verdict};
use crate::schema::node::Objects;
use crate::schema::store::{NodeId, Store};

/// What a schema can demand of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectRule<'n> {
    Required(&'n str),
    Property(&'n str),
    /// Properties that neither schema names.
    Rest,
    Least,
    Most,
    Names,
}

impl Store<'_> {
    pub(super) fn object_within(&self, one: &Objects, other: &Objects) -> Trial {
        let mut rules = vec![ObjectRule::Rest, ObjectRule::Least, ObjectRule::Most, ObjectRule::Names];
        rules.extend(other.required.iter().map(|name| ObjectRule::Required(name)));
        let extra = other.properties.keys().filter(|name| !one.properties.contains_key(*name));
        rules.extend(one.properties.keys().chain(extra).map(|name| ObjectRule::Property(name)));
        rules.into_iter().map(|rule| self.object_inside(rule, one, other)).fold(Trial::proven(), Trial::and)
    }

    /// Checks whether all objects of `one` obey a rule of `other`.
    pub(crate) fn object_inside(&self, rule: ObjectRule<'_>, one: &Objects, other: &Objects) -> Trial {
        match rule {
            ObjectRule::Required(name) if one.required.contains(name) => Trial::proven(),
            ObjectRule::Required(name) => Trial::open(self.objects_without(one, name)),
            ObjectRule::Property(name) => self.property_inside(name, one, other),
            ObjectRule::Rest => self.rest_inside(one, other),
            ObjectRule::Least if one.least.max(one.required.len() as u64) >= other.least => Trial::proven(),
            ObjectRule::Least => Trial::open(self.objects_with(one, &[])),
            ObjectRule::Most => match other.most {
                None => Trial::proven(),
                Some(most) if self.largest(one).is_some_and(|own| own <= most) => Trial::proven(),
                Some(most) => Trial::open(self.objects_of(one, most.saturating_add(1))),
            },
            ObjectRule::Names => self.names_inside(one, other),
        }
    }

    fn property_inside(&self, name: &str, one: &Objects, other: &Objects) -> Trial {
        if one.most == Some(0) || self.fits(one.names, &json!(name)) == Some(false) {
            return Trial::proven();
        }
        match self.contained(self.child(one, name), self.child(other, name)) {
            Verdict::Inside => Trial::proven(),
            Verdict::Unknown(reason) => Trial::undecided(reason),
            Verdict::Refuted(value) => Trial::open(self.objects_with(one, &[(name, &value)])),
        }
    }

    /// Compares properties that neither names, pattern by pattern. What `one` allows under a pattern, or outside all
    /// patterns, must fit everything that `other` may ask of such a name.
    fn rest_inside(&self, one: &Objects, other: &Objects) -> Trial {
        if one.most == Some(0) {
            return Trial::proven();
        }
        let mut trial = Trial::proven();
        let shared = |pattern: &str, patterns: &[(String, NodeId)]| {
            patterns.iter().find(|(known, _)| known == pattern).map(|(_, node)| *node)
        };
        for (pattern, wanted) in &other.patterns {
            if let Some(own) = shared(pattern, &one.patterns) {
                trial = trial.and(self.rest_trial(own, *wanted, Some(pattern), one, other));
                continue;
            }
            for (own_pattern, own) in &one.patterns {
                trial = trial.and(self.rest_trial(*own, *wanted, Some(own_pattern), one, other));
            }
            trial = trial.and(self.rest_trial(one.additional, *wanted, Some(pattern), one, other));
        }
        for (pattern, own) in &one.patterns {
            if shared(pattern, &other.patterns).is_none() {
                trial = trial.and(self.rest_trial(*own, other.additional, Some(pattern), one, other));
            }
        }
        trial.and(self.rest_trial(one.additional, other.additional, None, one, other))
    }

    fn rest_trial(
        &self,
        own: NodeId,
        wanted: NodeId,
        pattern: Option<&str>,
        one: &Objects,
        other: &Objects,
    ) -> Trial {
        match self.contained(own, wanted) {
            Verdict::Inside => Trial::proven(),
            Verdict::Unknown(reason) => Trial::undecided(reason),
            Verdict::Refuted(value) => {
                let names = self.fresh_names(&[one, other], pattern);
                Trial::open(names.iter().flat_map(|name| self.objects_with(one, &[(name, &value)])).collect())
            }
        }
    }

    fn names_inside(&self, one: &Objects, other: &Objects) -> Trial {
        let verdict = self.contained(one.names, other.names);
        if verdict == Verdict::Inside {
            return Trial::proven();
        }
        let refused = |name: &&String| self.fits(other.names, &json!(name)) != Some(true);
        let possible: Vec<&String> = one
            .properties
            .keys()
            .filter(|name| {
                !self.is_never(self.child(one, name)) && self.fits(one.names, &json!(name)) != Some(false)
            })
            .filter(refused)
            .collect();
        if possible.is_empty() && one.patterns.is_empty() && self.is_never(one.additional) {
            return Trial::proven();
        }
        let mut names: Vec<String> = possible.into_iter().cloned().collect();
        let mut trial = match verdict {
            Verdict::Refuted(Value::String(name)) => {
                names.push(name);
                Trial::open(Vec::new())
            }
            Verdict::Unknown(reason) => Trial::undecided(reason),
            _ => Trial::open(Vec::new()),
        };
        for name in &names {
            for value in self.samples(self.child(one, name)).iter().take(3) {
                trial.candidates.extend(self.objects_with(one, &[(name, value)]));
            }
        }
        trial
    }

    /// Returns the most properties that an object can have, as far as the schema shows it directly.
    fn largest(&self, objects: &Objects) -> Option<u64> {
        let closed = objects.patterns.is_empty() && self.is_never(objects.additional);
        let named = objects.properties.keys().filter(|name| !self.is_never(self.child(objects, name)));
        let named = closed.then(|| named.count() as u64);
        named.into_iter().chain(objects.most).min()
    }
}
