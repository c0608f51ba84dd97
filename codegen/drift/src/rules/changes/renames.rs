//! Properties that have another name and take the same values: one finding each, not one for what is gone and one for what came.

use serde_json::Value;

use super::embed::Step;
use super::{Spot, Verdict, Walk};
use crate::rules::pairing::are_near;
use crate::rules::{inputs, outputs};
use crate::schema::contain::ObjectRule;
use crate::schema::node::Objects;

/// The old and the new name of a property.
pub(super) type Rename<'o> = (&'o String, &'o String);

/// How many pairs of a name that is gone and one that came are looked at. Where more changed, each is reported alone.
const MAX_PAIRS: usize = 10_000;

/// What shows besides the schema that a property has only another name; the surest first.
#[derive(Clone, Copy)]
enum Sign {
    Description,
    Name,
    Alone,
}

impl Walk<'_, '_> {
    /// Finds the renames in an object. Schemas and duty are the same; besides, the names are near, the descriptions are the same, or no
    /// other property is gone or came.
    pub(super) fn renames<'o>(&self, old: &'o Objects, new: &'o Objects) -> Vec<Rename<'o>> {
        let only = |one: &'o Objects, other: &'o Objects| -> Vec<&'o String> {
            one.properties.keys().filter(|name| !other.properties.contains_key(*name)).collect()
        };
        let (mut gone, mut come) = (only(old, new), only(new, old));
        let alone = gone.len() == 1 && come.len() == 1;
        let mut found = Vec::new();
        if gone.len().saturating_mul(come.len()) > MAX_PAIRS {
            return found;
        }
        for sign in [Sign::Description, Sign::Name, Sign::Alone] {
            let shows = |from: &str, to: &str| match sign {
                Sign::Description => self.described_alike(old, from, new, to),
                Sign::Name => are_near(from, to),
                Sign::Alone => alone,
            };
            gone.retain(|from| {
                let fits = |to: &&String| shows(from, to) && self.same_property(old, from, new, to);
                let at = come.iter().position(fits);
                found.extend(at.map(|at| (*from, come.remove(at))));
                at.is_none()
            });
        }
        found
    }

    fn same_property(&self, old: &Objects, from: &String, new: &Objects, to: &String) -> bool {
        let (before, after) = (self.store.child(old, from), self.store.child(new, to));
        old.required.contains(from) == new.required.contains(to)
            && !self.store.is_never(before)
            && self.store.contained(before, after) == Verdict::Inside
            && self.store.contained(after, before) == Verdict::Inside
    }

    fn described_alike(&self, old: &Objects, from: &str, new: &Objects, to: &str) -> bool {
        let text = |objects: &Objects, name: &str| {
            let text = self.store.remark(self.store.child(objects, name), "description")?;
            text.as_str().filter(|text| !text.is_empty())
        };
        text(old, from).is_some_and(|before| text(new, to) == Some(before))
    }

    /// Reports a rename. It is as severe as the worse of both, the name that is gone and the name that came.
    pub(super) fn renamed(&mut self, spot: &Spot, (from, to): Rename<'_>, old: &Objects, new: &Objects) {
        let trial = |rule| self.trials(rule, old, new).0;
        let gone = trial(ObjectRule::Property(from))
            .and(trial(ObjectRule::Required(from)))
            .and(trial(ObjectRule::Required(to)));
        let came = trial(ObjectRule::Property(to));
        let settled = |trial| if spot.safe { Verdict::Inside } else { self.settle(spot, trial) };
        let (gone, came) = (settled(gone), settled(came));
        let breaks = matches!(gone, Verdict::Refuted(_));
        let verdict = if gone == Verdict::Inside { came } else { gone };
        let escaped = |name: &str| format!("properties/{}", name.replace('~', "~0").replace('/', "~1"));
        let nodes = (self.store.child(old, from), self.store.child(new, to));
        let step = Some(Step::Property(to.clone()));
        let mut child = spot.below(nodes.0, nodes.1, &escaped(to), spot.place_of(to), step);
        child.may_be_absent = !old.required.contains(from);
        let mut difference =
            self.difference(spot, Value::from(from.as_str()), Value::from(to.as_str()), verdict);
        difference.pointer = format!("{}/{}", spot.pointer, escaped(from));
        difference.place = spot.place_of(from);
        self.push(match self.is_input() {
            true => inputs::renamed(difference, &child.place, breaks),
            false => outputs::renamed(difference, &child.place, breaks, old.required.contains(from)),
        });
        if self.is_input() {
            self.suspicious(&child, to);
        }
        self.pair(&child);
    }
}
