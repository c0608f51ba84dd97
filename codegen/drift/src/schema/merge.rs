//! Merges two cases into one, whose values fit both.

use super::node::{Arrays, Body, Bound, Case, Numbers, Objects, Texts};
use super::number::{Known, Num};
use super::store::{NodeId, Store};

/// No single case can express what the two say about property names.
pub(crate) struct Unmerged;

/// The values that fit both; `None` if no value does.
pub(crate) fn merge(store: &Store<'_>, one: &Case, other: &Case) -> Result<Option<Case>, Unmerged> {
    if one.kind != other.kind {
        return Ok(None);
    }
    let body = match (&one.body, &other.body) {
        // Single values are checked against the whole schema later.
        (Body::Values(values), Body::Values(others)) => {
            let known = Known::of(others);
            let both: Vec<_> = values.iter().filter(|value| known.contains(value)).cloned().collect();
            (!both.is_empty()).then_some(Body::Values(both))
        }
        (Body::Values(values), _) | (_, Body::Values(values)) => Some(Body::Values(values.clone())),
        (Body::Number(one), Body::Number(other)) => numbers(one, other).map(Body::Number),
        (Body::Text(one), Body::Text(other)) => texts(one, other).map(Body::Text),
        (Body::Array(one), Body::Array(other)) => arrays(store, one, other).map(Body::Array),
        (Body::Object(one), Body::Object(other)) => objects(store, one, other)?.map(Body::Object),
        _ => None,
    };
    Ok(body.map(|body| {
        let mut residue = one.residue.clone();
        residue.extend(other.residue.iter().map(|(text, residue)| (text.clone(), residue.clone())));
        Case { kind: one.kind, body, residue }
    }))
}

/// Returns the cases without repetition: single values of a type in one list, and no others beside a case that takes all values.
pub(crate) fn tidy(cases: Vec<Case>) -> Vec<Case> {
    // Beside each case the values of its list, as soon as a second list is merged into it.
    let mut tidied: Vec<(Case, Option<Known>)> = Vec::with_capacity(cases.len());
    for case in cases {
        if tidied.iter().any(|(known, _)| known.kind == case.kind && (known.is_all() || *known == case)) {
            continue;
        }
        if case.is_all() {
            tidied.retain(|(known, _)| known.kind != case.kind);
        }
        let alike = tidied.iter_mut().find(|(known, _)| {
            known.kind == case.kind && known.residue == case.residue && matches!(known.body, Body::Values(_))
        });
        match (alike, case) {
            (
                Some((Case { body: Body::Values(known), .. }, seen)),
                Case { body: Body::Values(values), .. },
            ) => {
                let seen = seen.get_or_insert_with(|| Known::of(&*known));
                known.extend(values.into_iter().filter(|value| seen.insert(value)));
            }
            (_, case) => tidied.push((case, None)),
        }
    }
    tidied.into_iter().map(|(case, _)| case).collect()
}

impl Numbers {
    pub(crate) fn raise(&mut self, bound: Bound) {
        let tighter = self.least.is_none_or(|least| {
            let order = bound.at.compare(least.at);
            order.is_gt() || order.is_eq() && bound.open
        });
        if tighter {
            self.least = Some(bound);
        }
    }

    pub(crate) fn lower(&mut self, bound: Bound) {
        self.turn();
        self.raise(bound.negated());
        self.turn();
    }

    /// Mirrors a range: every number becomes its negative.
    pub(crate) fn turn(&mut self) {
        let least = self.least.map(Bound::negated);
        self.least = self.most.map(Bound::negated);
        self.most = least;
    }

    /// Whole numbers get whole, closed bounds; a step of whole numbers makes all numbers whole.
    pub(crate) fn fold(&mut self) {
        self.whole |= self.steps.iter().any(|step| matches!(step, Num::Int(step) if *step != 0));
        if !self.whole {
            return;
        }
        let upwards = |bound: &mut Bound| {
            if let Some(below) = bound.at.floor() {
                let exact = bound.at == Num::Int(below) && !bound.open;
                *bound = Bound { at: Num::Int(if exact { below } else { below + 1 }), open: false };
            }
        };
        self.least.iter_mut().for_each(upwards);
        self.turn();
        self.least.iter_mut().for_each(upwards);
        self.turn();
        if self.steps == [Num::Int(1)] {
            self.steps.clear();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let (Some(least), Some(most)) = (self.least, self.most) else { return false };
        match least.at.compare(most.at) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => least.open || most.open,
            std::cmp::Ordering::Greater => true,
        }
    }
}

fn numbers(one: &Numbers, other: &Numbers) -> Option<Numbers> {
    let mut merged = one.clone();
    merged.whole |= other.whole;
    other.least.into_iter().for_each(|bound| merged.raise(bound));
    other.most.into_iter().for_each(|bound| merged.lower(bound));
    for step in &other.steps {
        if !merged.steps.contains(step) {
            merged.steps.push(*step);
        }
    }
    merged.fold();
    (!merged.is_empty()).then_some(merged)
}

fn lower_of(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

fn texts(one: &Texts, other: &Texts) -> Option<Texts> {
    let (least, most) = (one.least.max(other.least), lower_of(one.most, other.most));
    let patterns = one.patterns.union(&other.patterns).cloned().collect();
    most.is_none_or(|most| least <= most).then_some(Texts { least, most, patterns })
}

fn arrays(store: &Store<'_>, one: &Arrays, other: &Arrays) -> Option<Arrays> {
    let (least, most) = (one.least.max(other.least), lower_of(one.most, other.most));
    let longer = one.prefix.len().max(other.prefix.len());
    most.is_none_or(|most| least <= most).then(|| Arrays {
        prefix: (0..longer).map(|index| store.both(one.item(index), other.item(index))).collect(),
        items: store.both(one.items, other.items),
        least,
        most,
        unique: one.unique || other.unique,
    })
}

fn objects(store: &Store<'_>, one: &Objects, other: &Objects) -> Result<Option<Objects>, Unmerged> {
    let same_patterns = one.patterns.iter().map(|(p, _)| p).eq(other.patterns.iter().map(|(p, _)| p));
    let mixed = !same_patterns && (!one.patterns.is_empty() && !other.patterns.is_empty());
    let open = one.additional == NodeId::ANY && other.additional == NodeId::ANY;
    if !open && (mixed || speaks_of_named(store, one, other) || speaks_of_named(store, other, one)) {
        return Err(Unmerged);
    }
    let (least, most) = (one.least.max(other.least), lower_of(one.most, other.most));
    let required: std::collections::BTreeSet<String> = one.required.union(&other.required).cloned().collect();
    if most.is_some_and(|most| least > most || required.len() as u64 > most) {
        return Ok(None);
    }
    let names = one.properties.keys().chain(other.properties.keys());
    let properties = names
        .map(|name| (name.clone(), store.both(store.child(one, name), store.child(other, name))))
        .collect();
    Ok(Some(Objects {
        properties,
        required,
        patterns: patterns(store, one, other),
        additional: store.both(one.additional, other.additional),
        names: store.both(one.names, other.names),
        least,
        most,
    }))
}

/// Checks whether a pattern that only one has matches a property that the other names.
fn speaks_of_named(store: &Store<'_>, one: &Objects, other: &Objects) -> bool {
    let foreign = one.patterns.iter().filter(|(p, _)| !other.patterns.iter().any(|(known, _)| known == p));
    foreign
        .into_iter()
        .any(|(p, _)| other.properties.keys().any(|name| store.matches(p, name) != Some(false)))
}

/// Returns the patterns of both. A schema without patterns covers matching names by `additionalProperties`.
fn patterns(store: &Store<'_>, one: &Objects, other: &Objects) -> Vec<(String, NodeId)> {
    let mut merged: Vec<(String, NodeId)> = Vec::new();
    for (mine, theirs) in [(one, other), (other, one)] {
        for (pattern, node) in &mine.patterns {
            let counterpart = theirs.patterns.iter().find(|(known, _)| known == pattern);
            let beside = match counterpart {
                Some((_, counterpart)) => *counterpart,
                None if theirs.patterns.is_empty() => theirs.additional,
                None => NodeId::ANY,
            };
            if !merged.iter().any(|(known, _)| known == pattern) {
                merged.push((pattern.clone(), store.both(*node, beside)));
            }
        }
    }
    merged.sort();
    merged
}

impl Store<'_> {
    /// Returns the schema of a property of that name: its own and those of matching patterns, or else that of
    /// additional properties.
    pub(crate) fn child(&self, objects: &Objects, name: &str) -> NodeId {
        let matching = objects
            .patterns
            .iter()
            .filter(|(pattern, _)| self.matches(pattern, name) == Some(true))
            .map(|(_, node)| *node);
        let found: Vec<NodeId> = objects.properties.get(name).copied().into_iter().chain(matching).collect();
        match found.split_first() {
            None => objects.additional,
            Some((first, rest)) => rest.iter().fold(*first, |node, next| self.both(node, *next)),
        }
    }
}
