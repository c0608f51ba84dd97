//! Differences between arrays.

use serde_json::{Value, json};

use super::embed::Step;
use super::{Spot, Walk, sides};
use crate::rules::{inputs, outputs};
use crate::schema::contain::ArrayRule;
use crate::schema::node::Arrays;

impl Walk<'_, '_> {
    pub(super) fn arrays(&mut self, spot: &Spot, old: &Arrays, new: &Arrays) {
        for rule in [ArrayRule::Least, ArrayRule::Most, ArrayRule::Unique] {
            let (giver, taker) = sides(self.direction, old, new);
            let loss = self.store.array_inside(rule, giver, taker);
            let gain = self.store.array_inside(rule, taker, giver);
            let Some(verdict) = self.verdict(spot, loss, gain) else { continue };
            let difference = self.difference(spot, shown(rule, old), shown(rule, new), verdict);
            self.push(if self.is_input() { inputs::bound(difference) } else { outputs::bound(difference) });
        }
        let prefix = old.prefix.len().max(new.prefix.len());
        for index in 0..=prefix {
            let (segment, place) = if index < prefix {
                (format!("prefixItems/{index}"), spot.place_of(&format!("[{index}]")))
            } else {
                ("items".to_owned(), spot.place_of("[]"))
            };
            let items = (old.item(index), new.item(index));
            self.pair(&spot.below(items.0, items.1, &segment, place, Some(Step::Item(index))));
        }
    }
}

fn shown(rule: ArrayRule, arrays: &Arrays) -> Value {
    match rule {
        ArrayRule::Least if arrays.least == 0 => Value::Null,
        ArrayRule::Least => json!({ "minItems": arrays.least }),
        ArrayRule::Most => arrays.most.map_or(Value::Null, |most| json!({ "maxItems": most })),
        ArrayRule::Unique if arrays.unique => json!({ "uniqueItems": true }),
        ArrayRule::Unique | ArrayRule::Item(_) => Value::Null,
    }
}
