//! Differences between unions of the same type, and between conditions known by their text.

use serde_json::{Value, json};

use super::{Spot, Walk, sides};
use crate::rules::{inputs, outputs};
use crate::schema::Branches;
use crate::schema::contain::Trial;
use crate::schema::node::{Case, Residue};

impl Walk<'_, '_> {
    /// Branches that mean the same are put aside; if as many are left on both sides, they are compared in
    /// order, otherwise the union as a whole is.
    pub(super) fn union(&mut self, spot: &Spot, old: &[Case], new: &[Case]) {
        let mut left: Vec<(usize, &Case)> = new.iter().enumerate().collect();
        let mut gone: Vec<(usize, &Case)> = Vec::new();
        for (index, case) in old.iter().enumerate() {
            let twin = left.iter().position(|(_, other)| {
                !self.store.within(case, other).open && !self.store.within(other, case).open
            });
            match twin {
                Some(at) => {
                    let (_, twin) = left.remove(at);
                    self.cases(
                        &spot.below(spot.old, spot.new, &format!("anyOf/{index}"), spot.place.clone(), None),
                        case,
                        twin,
                    );
                }
                None => gone.push((index, case)),
            }
        }
        if gone.len() == left.len() {
            for ((index, case), (_, other)) in gone.iter().zip(&left) {
                let branch =
                    spot.below(spot.old, spot.new, &format!("anyOf/{index}"), spot.place.clone(), None);
                self.cases(&branch, case, other);
            }
            return;
        }
        let (giver, taker) = sides(self.direction, old, new);
        let (giver_node, taker_node) = sides(self.direction, spot.old, spot.new);
        let lost = |one: &[Case], node, other_node, other: &[Case]| {
            one.iter()
                .map(|case| self.store.case_inside(node, case, other_node, other))
                .fold(Trial::proven(), Trial::and)
        };
        let loss = lost(giver, giver_node, taker_node, taker);
        let gain = lost(taker, taker_node, giver_node, giver);
        if let Some(verdict) = self.verdict(spot, loss, gain) {
            let told = |cases: Vec<&Case>| cases.into_iter().map(|case| self.store.told(case)).collect();
            let branches = Branches {
                gone: told(gone.into_iter().map(|(_, case)| case).collect()),
                come: told(left.into_iter().map(|(_, case)| case).collect()),
            };
            let (before, after) = (self.written(spot.old), self.written(spot.new));
            let difference = self.difference(spot, before, after, verdict);
            self.push(if self.is_input() {
                inputs::branches(difference, &branches)
            } else {
                outputs::branches(difference, &branches)
            });
        }
    }

    /// Formats, unknown keywords and conditions.
    pub(super) fn residue(&mut self, spot: &Spot, old: &Case, new: &Case) {
        let only = |one: &Case, other: &Case, group: fn(&Residue) -> bool| -> Vec<Residue> {
            let foreign = one.residue.iter().filter(|(text, _)| !other.residue.contains_key(*text));
            foreign.map(|(_, residue)| residue.clone()).filter(group).collect()
        };
        let groups: [fn(&Residue) -> bool; 3] =
            [|r| &*r.keyword == "format", Residue::is_unknown, |r| !r.is_remark()];
        for (index, group) in groups.into_iter().enumerate() {
            let (before, after) = (only(old, new, group), only(new, old, group));
            if before.is_empty() && after.is_empty() {
                continue;
            }
            let (gone, come) = sides(self.direction, &before, &after);
            let loss = if come.is_empty() { Trial::proven() } else { self.unmet(spot, come) };
            let gain = if gone.is_empty() { Trial::proven() } else { Trial::open(Vec::new()) };
            // No value shows a difference between formats or unknown keywords.
            let verdict = match index {
                0 | 1 => Some(self.settle(spot, loss)),
                _ => self.verdict(spot, loss, gain),
            };
            let Some(verdict) = verdict else { continue };
            let difference = self.difference(spot, self.operands(&before), self.operands(&after), verdict);
            let input = self.is_input();
            self.push(match index {
                0 if input => inputs::format(difference),
                0 => outputs::pattern(difference),
                1 if input => inputs::unknown_keyword(difference),
                1 => outputs::unknown_keyword(difference),
                _ if input => inputs::condition(difference),
                _ => outputs::bound(difference),
            });
        }
    }

    /// Values of the giving side that do not meet a condition.
    fn unmet(&self, spot: &Spot, conditions: &[Residue]) -> Trial {
        let (giver, _) = sides(self.direction, spot.old, spot.new);
        let samples = self.store.samples(giver);
        let refused = |value: &&Value| {
            conditions.iter().any(|residue| self.store.fits_residue(residue, value) == Some(false))
        };
        Trial::open(samples.iter().filter(refused).cloned().collect())
    }

    fn operands(&self, residues: &[Residue]) -> Value {
        let operand = |residue: &Residue| {
            let schema = self.store.place(residue.site).schema;
            match schema.get(&*residue.keyword) {
                Some(operand) => json!({ &*residue.keyword: operand }),
                None => schema.clone(),
            }
        };
        match residues {
            [] => Value::Null,
            [residue] => operand(residue),
            residues => residues.iter().map(operand).collect(),
        }
    }
}
