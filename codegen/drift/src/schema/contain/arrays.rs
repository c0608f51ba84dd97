//! Arrays: the number of items, their schemas, and whether they are unique.

use serde_json::Value;

use super::{Trial, Verdict};
use crate::schema::node::Arrays;
use crate::schema::store::Store;

/// What a schema can demand of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrayRule {
    Least,
    Most,
    Unique,
    /// The item at this index; at the longest prefix's length, all that follow.
    Item(usize),
}

impl Store<'_> {
    pub(super) fn array_within(&self, one: &Arrays, other: &Arrays) -> Trial {
        let mut rules = vec![ArrayRule::Least, ArrayRule::Most, ArrayRule::Unique];
        rules.extend((0..=one.prefix.len().max(other.prefix.len())).map(ArrayRule::Item));
        rules.into_iter().map(|rule| self.array_inside(rule, one, other)).fold(Trial::proven(), Trial::and)
    }

    /// Checks whether all arrays of `one` obey a rule of `other`.
    pub(crate) fn array_inside(&self, rule: ArrayRule, one: &Arrays, other: &Arrays) -> Trial {
        let longest = self.longest(one);
        match rule {
            ArrayRule::Least if one.least >= other.least => Trial::proven(),
            ArrayRule::Least => Trial::open(self.arrays_of(one, one.least)),
            ArrayRule::Most => match other.most {
                None => Trial::proven(),
                Some(most) if longest.is_some_and(|own| own <= most) => Trial::proven(),
                Some(most) => Trial::open(self.arrays_of(one, one.least.max(most.saturating_add(1)))),
            },
            ArrayRule::Unique if !other.unique || one.unique || longest.is_some_and(|own| own < 2) => {
                Trial::proven()
            }
            ArrayRule::Unique => Trial::open(self.repeating(one)),
            ArrayRule::Item(index) if longest.is_some_and(|own| own <= index as u64) => Trial::proven(),
            ArrayRule::Item(index) => match self.contained(one.item(index), other.item(index)) {
                Verdict::Inside => Trial::proven(),
                Verdict::Unknown(reason) => Trial::undecided(reason),
                Verdict::Refuted(item) => Trial::open(self.array_with(one, index, &item)),
            },
        }
    }

    /// Returns the most items that an array can have, if that is clear at once.
    fn longest(&self, arrays: &Arrays) -> Option<u64> {
        let blocked = (0..=arrays.prefix.len()).find(|index| self.is_never(arrays.item(*index)));
        blocked.map(|index| index as u64).into_iter().chain(arrays.most).min()
    }

    /// Arrays whose second item repeats the first.
    fn repeating(&self, one: &Arrays) -> Vec<Value> {
        let length = one.least.max(2);
        let mut found = Vec::new();
        for item in self.samples(one.item(0)).iter().chain(self.samples(one.item(1)).iter()) {
            for array in self.arrays_of(one, length) {
                if let Value::Array(mut items) = array {
                    items[0] = item.clone();
                    items[1] = item.clone();
                    found.push(Value::Array(items));
                }
            }
        }
        found
    }
}
