//! Differences between numbers, strings and lists of values.

use serde_json::{Value, json};

use super::{Spot, Verdict, Walk, sides};
use crate::rules::{inputs, outputs};
use crate::schema::contain::{NumberRule, TextRule, Trial, numbers};
use crate::schema::node::{Body, Bound, Case, Numbers, Texts};
use crate::schema::number::Known;

impl Walk<'_, '_> {
    pub(super) fn numbers(&mut self, spot: &Spot, old: &Numbers, new: &Numbers) {
        if old == new {
            return;
        }
        for rule in NumberRule::ALL {
            let (giver, taker) = sides(self.direction, old, new);
            let trials = (numbers::inside(rule, giver, taker), numbers::inside(rule, taker, giver));
            let values = (number_value(rule, old), number_value(rule, new));
            if numbers::beyond_exact(rule, old, new) {
                let difference = self.difference(spot, values.0, values.1, Verdict::Inside);
                self.push(match self.is_input() {
                    true => inputs::bound_beyond_exact(difference),
                    false => outputs::bound_beyond_exact(difference),
                });
                continue;
            }
            let Some(verdict) = self.verdict(spot, trials.0, trials.1) else { continue };
            let difference = self.difference(spot, values.0, values.1, verdict);
            self.push(match (rule, self.is_input()) {
                (NumberRule::Whole, true) => inputs::type_changed(difference),
                (NumberRule::Whole, false) => outputs::type_changed(difference),
                (_, true) => inputs::bound(difference),
                (_, false) => outputs::bound(difference),
            });
        }
    }

    pub(super) fn texts(&mut self, spot: &Spot, old: &Texts, new: &Texts) {
        if old == new {
            return;
        }
        for rule in TextRule::ALL {
            let (giver, taker) = sides(self.direction, old, new);
            let loss = self.store.text_inside(rule, giver, taker);
            let gain = self.store.text_inside(rule, taker, giver);
            let Some(verdict) = self.verdict(spot, loss, gain) else { continue };
            let difference = self.difference(spot, text_value(rule, old), text_value(rule, new), verdict);
            self.push(match (rule, self.is_input()) {
                (TextRule::Pattern, true) if old.patterns.is_empty() || new.patterns.is_empty() => {
                    inputs::pattern_set(difference)
                }
                (TextRule::Pattern, true) => inputs::pattern(difference),
                (TextRule::Pattern, false) => outputs::pattern(difference),
                (_, true) => inputs::bound(difference),
                (_, false) => outputs::bound(difference),
            });
        }
    }

    /// Lists of values, one of which may be missing.
    pub(super) fn values(&mut self, spot: &Spot, old: &[Case], new: &[Case]) {
        let (giver, taker) = sides(self.direction, old, new);
        let (giver_node, taker_node) = sides(self.direction, spot.old, spot.new);
        let lost = |one: &[Case], node, other_node, other: &[Case]| {
            one.iter()
                .map(|case| self.store.case_inside(node, case, other_node, other))
                .fold(Trial::proven(), Trial::and)
        };
        let loss = lost(giver, giver_node, taker_node, taker);
        let gain = lost(taker, taker_node, giver_node, giver);
        let Some(verdict) = self.verdict(spot, loss, gain) else { return };
        let (before, after) = (listed(old), listed(new));
        let difference = self.difference(spot, before, after, verdict);
        self.push(if self.is_input() { inputs::values(difference) } else { outputs::values(difference) });
    }
}

/// The values of a list; null if the schema accepts any value of the type.
fn listed(cases: &[Case]) -> Value {
    let mut all: Vec<Value> = Vec::new();
    let mut seen = Known::default();
    for case in cases {
        let Body::Values(values) = &case.body else { return Value::Null };
        all.extend(values.iter().filter(|value| seen.insert(value)).cloned());
    }
    json!({ "enum": all })
}

fn number_value(rule: NumberRule, numbers: &Numbers) -> Value {
    let bound = |bound: Option<Bound>, closed: &str, open: &str| match bound {
        Some(bound) => json!({ if bound.open { open } else { closed }: bound.at.value() }),
        None => Value::Null,
    };
    match rule {
        NumberRule::Whole => json!([if numbers.whole { "integer" } else { "number" }]),
        NumberRule::Least => bound(numbers.least, "minimum", "exclusiveMinimum"),
        NumberRule::Most => bound(numbers.most, "maximum", "exclusiveMaximum"),
        NumberRule::Step => match &numbers.steps[..] {
            [] => Value::Null,
            [step] => json!({ "multipleOf": step.value() }),
            steps => json!({ "multipleOf": steps.iter().map(|step| step.value()).collect::<Vec<_>>() }),
        },
    }
}

fn text_value(rule: TextRule, texts: &Texts) -> Value {
    match rule {
        TextRule::Least if texts.least == 0 => Value::Null,
        TextRule::Least => json!({ "minLength": texts.least }),
        TextRule::Most => texts.most.map_or(Value::Null, |most| json!({ "maxLength": most })),
        TextRule::Pattern => {
            let patterns: Vec<&String> = texts.patterns.iter().collect();
            match &patterns[..] {
                [] => Value::Null,
                [pattern] => json!({ "pattern": pattern }),
                patterns => json!({ "pattern": patterns }),
            }
        }
    }
}
