//! The walk through two schemas at once: what differs, where, and which rule it belongs to.
//!
//! Each difference is decided separately, with a whole value as witness. At the end the whole schemas are
//! compared once more, so every loss is named.

mod arrays;
mod dialect;
mod embed;
mod objects;
mod remarks;
mod renames;
mod scalars;
mod unions;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Value, json};

use super::{inputs, outputs};
use crate::Severity;
use crate::finding::place;
use crate::schema::contain::{NOT_DECIDED, Trial, Verdict};
use crate::schema::difference::Difference;
use crate::schema::node::{Body, Case, Normal, TYPES, Type};
use crate::schema::store::{NodeId, Store, TOO_COMPLEX};
use crate::schema::text::unknown_keywords;
use crate::schema::{Direction, SchemaChange};
use dialect::other_meaning;
use embed::Step;

/// All differences between two schemas in one direction, in the order of the walk. Schemas that mean the
/// same have none, even if they are written differently.
///
/// ```
/// use colibri_drift::Severity;
/// use colibri_drift::compare_schemas;
/// use colibri_drift::schema::Direction;
/// use serde_json::json;
///
/// let old = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 20}}});
/// let new = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 9}}});
///
/// let changes = compare_schemas(&old, &new, Direction::Input);
/// assert_eq!((changes[0].rule, changes[0].severity), ("I7", Severity::Break));
/// assert_eq!(changes[0].witness, Some(json!({"text": "aaaaaaaaaa"})));
/// assert!(compare_schemas(&old, &new, Direction::Output).iter().all(|change| change.severity == Severity::Info));
/// ```
#[must_use]
pub fn compare(old: &Value, new: &Value, direction: Direction) -> Vec<SchemaChange> {
    changes(old, new, direction).0
}

/// The changes, and the work that it took to find them.
fn changes(old: &Value, new: &Value, direction: Direction) -> (Vec<SchemaChange>, u64) {
    let store = Store::new();
    let (old_root, new_root) = (store.node(&[store.site(old, old)]), store.node(&[store.site(new, new)]));
    let mut walk = Walk {
        store: &store,
        direction,
        roots: (old_root, new_root),
        found: Vec::new(),
        known: HashSet::new(),
        crowded: false,
        open: Vec::new(),
        seen: HashMap::new(),
        undecided: Cell::new(0),
        places: Vec::new(),
    };
    let place = if direction == Direction::Input { "the input" } else { "the output" };
    walk.pair(&Spot {
        old: old_root,
        new: new_root,
        pointer: String::new(),
        place: place.to_owned(),
        steps: Vec::new(),
        safe: false,
        safe_back: false,
        may_be_absent: false,
    });
    walk.unknown_keywords(old, new);
    walk.name_places();
    walk.net();
    walk.other_meaning(old, new);
    (walk.found, store.spent())
}

/// The work of a comparison, as [`compare`] does it; it is bounded, and tests hold it.
#[must_use]
pub fn work(old: &Value, new: &Value, direction: Direction) -> u64 {
    changes(old, new, direction).1
}

/// What a walk may find in one schema besides what affects security; a person would not read more.
const MAX_CHANGES: usize = 100;
/// What is said of the rest.
const TOO_MANY: &str = "more than 100 changes, of which the first are listed; a person must look at the rest";

/// What a step of the walk costs, beside a step of the comparison.
const STEP: u64 = 20;

struct Walk<'s, 'a> {
    store: &'s Store<'a>,
    direction: Direction,
    roots: (NodeId, NodeId),
    found: Vec<SchemaChange>,
    /// What tells them apart.
    known: HashSet<String>,
    /// There are more than are listed.
    crowded: bool,
    /// The enclosing pairs, to which a recursive schema returns.
    open: Vec<(NodeId, NodeId)>,
    /// Pairs, and which of `found` were found in each.
    seen: HashMap<Key, Seen>,
    /// How many questions were left undecided so far.
    undecided: Cell<usize>,
    /// Further places of a definition, with what was found at the first.
    places: Vec<(Seen, String)>,
}

/// The definitions at a place; whether the place has a description or default of its own; and what is known of the place.
type Key = ((NodeId, NodeId), bool, [bool; 3]);

/// A place, and which of the changes were found there.
#[derive(Clone)]
struct Seen {
    pointer: String,
    found: Range<usize>,
}

/// Two schemas for the same part of a value.
#[derive(Clone)]
struct Spot {
    old: NodeId,
    new: NodeId,
    pointer: String,
    place: String,
    /// The path from the root, for witnesses.
    steps: Vec<Step>,
    /// It is proven that nothing is lost here.
    safe: bool,
    /// It is proven that nothing is gained here.
    safe_back: bool,
    /// It is a property that old values need not have.
    may_be_absent: bool,
}

impl Spot {
    fn below(&self, old: NodeId, new: NodeId, segment: &str, place: String, step: Option<Step>) -> Self {
        let pointer = format!("{}/{}", self.pointer, segment);
        let steps = self.steps.iter().cloned().chain(step).collect();
        Self { old, new, pointer, place, steps, may_be_absent: false, ..self.clone() }
    }

    /// Returns a place inside this one in words.
    fn place_of(&self, tail: &str) -> String {
        match (self.steps.is_empty(), tail.starts_with('[')) {
            (true, _) => tail.to_owned(),
            (false, true) => format!("{}{tail}", self.place),
            (false, false) => format!("{}.{tail}", self.place),
        }
    }
}

/// The side that gives values and the side that must take them, in that order.
fn sides<T>(direction: Direction, old: T, new: T) -> (T, T) {
    match direction {
        Direction::Input => (old, new),
        Direction::Output => (new, old),
    }
}

impl Walk<'_, '_> {
    fn is_input(&self) -> bool {
        self.direction == Direction::Input
    }

    fn pair(&mut self, spot: &Spot) {
        let ((old, old_says), (new, new_says)) =
            (self.store.definition(spot.old), self.store.definition(spot.new));
        let nodes = (old, new);
        if self.open.contains(&nodes) {
            return;
        }
        // A description that a reference comes with is said of its place alone.
        let says = old_says || new_says;
        if says {
            self.remarks(spot);
        }
        let key = (nodes, says, [spot.safe, spot.safe_back, spot.may_be_absent]);
        if let Some(seen) = self.seen.get(&key) {
            return self.places.push((seen.clone(), spot.pointer.clone()));
        }
        if self.is_crowded() || !self.store.spend(STEP) {
            return;
        }
        self.open.push(nodes);
        let before = (self.found.len(), self.undecided.get());
        let (giver, taker) = sides(self.direction, spot.old, spot.new);
        let mut spot = spot.clone();
        let (loss, gain) = (self.store.contained(giver, taker), self.store.contained(taker, giver));
        // Below equal schemas no value differs; remarks and unknown keywords may.
        let same = inputs::is_same(&loss, &gain);
        spot.safe |= same || loss == Verdict::Inside;
        spot.safe_back |= same || gain == Verdict::Inside;
        if !says {
            self.remarks(&spot);
        }
        self.meaning(&spot);
        self.open.pop();
        // What is undecided here may be decided at another place, where other values reach it.
        if self.found.len() == before.0 || self.undecided.get() == before.1 {
            let found = before.0..self.found.len();
            self.seen.insert(key, Seen { pointer: spot.pointer, found });
        }
    }

    fn meaning(&mut self, spot: &Spot) {
        let (old, new) = (self.store.normal(spot.old), self.store.normal(spot.new));
        if is_list(&old) && is_list(&new) {
            return self.values(spot, &old.cases, &new.cases);
        }
        self.types(spot, &old, &new);
        for kind in TYPES {
            let of = |normal: &Normal| -> Vec<Case> {
                normal.cases.iter().filter(|case| case.kind == kind).cloned().collect()
            };
            match (&of(&old)[..], &of(&new)[..]) {
                ([], _) | (_, []) => {}
                ([old], [new]) => self.cases(spot, old, new),
                (old, new) => self.union(spot, old, new),
            }
        }
    }

    fn types(&mut self, spot: &Spot, old: &Normal, new: &Normal) {
        let kinds = |normal: &Normal| normal.cases.iter().map(|case| case.kind).collect::<BTreeSet<Type>>();
        if kinds(old) == kinds(new) {
            return;
        }
        let lost = |one: &Normal, other: &Normal| {
            let cases = one.cases.iter().filter(|case| !kinds(other).contains(&case.kind));
            let samples: Vec<Value> = cases.clone().flat_map(|case| self.store.case_samples(case)).collect();
            if cases.count() == 0 { Trial::proven() } else { Trial::open(samples) }
        };
        let (giver, taker) = sides(self.direction, old, new);
        let trials = (lost(giver, taker), lost(taker, giver));
        let names = |normal: &Normal| Value::from(type_names(normal));
        if let Some(verdict) = self.verdict(spot, trials.0, trials.1) {
            let difference = self.difference(spot, names(old), names(new), verdict);
            self.push(if self.is_input() {
                inputs::type_changed(difference)
            } else {
                outputs::type_changed(difference)
            });
        }
    }

    /// Two cases of the same type.
    fn cases(&mut self, spot: &Spot, old: &Case, new: &Case) {
        match (&old.body, &new.body) {
            (Body::Number(one), Body::Number(other)) => self.numbers(spot, one, other),
            (Body::Text(one), Body::Text(other)) => self.texts(spot, one, other),
            (Body::Array(one), Body::Array(other)) => self.arrays(spot, one, other),
            (Body::Object(one), Body::Object(other)) => self.objects(spot, one, other),
            _ => self.values(spot, std::slice::from_ref(old), std::slice::from_ref(new)),
        }
        self.residue(spot, old, new);
    }

    /// Returns the change that a difference makes, if any. The first trial asks whether a value is lost, the
    /// second whether one is gained.
    fn verdict(&self, spot: &Spot, loss: Trial, gain: Trial) -> Option<Verdict> {
        let verdict = if spot.safe { Verdict::Inside } else { self.settle(spot, loss) };
        let nothing_gained = spot.safe_back || !gain.open;
        (verdict != Verdict::Inside || !nothing_gained).then_some(verdict)
    }

    /// A trial whose refutation is a whole value.
    fn settle(&self, spot: &Spot, trial: Trial) -> Verdict {
        if !trial.open {
            return Verdict::Inside;
        }
        let (giver, taker) = sides(self.direction, spot.old, spot.new);
        let (whole_giver, whole_taker) = sides(self.direction, self.roots.0, self.roots.1);
        let mut reason = trial.reason;
        for candidate in &trial.candidates {
            if !self.store.spend(1) {
                return Verdict::Unknown(TOO_COMPLEX.to_owned());
            }
            if !self.store.separates(giver, taker, candidate) {
                continue;
            }
            let wholes = self.store.embedded(whole_giver, &spot.steps, candidate);
            if let Some(whole) =
                wholes.into_iter().find(|whole| self.store.separates(whole_giver, whole_taker, whole))
            {
                return Verdict::Refuted(whole);
            }
            reason.get_or_insert_with(|| {
                format!("`{candidate}` tells them apart, but no whole example was found")
            });
        }
        self.undecided.set(self.undecided.get() + 1);
        Verdict::Unknown(reason.unwrap_or_else(|| NOT_DECIDED.to_owned()))
    }

    /// Adds to each change the other places of the definition in which it was found.
    fn name_places(&mut self) {
        const MOST: usize = 3;
        for (index, change) in self.found.iter_mut().enumerate() {
            for (seen, pointer) in self.places.iter().filter(|(seen, _)| seen.found.contains(&index)) {
                let Some(inside) = change.pointer.strip_prefix(&seen.pointer) else { continue };
                let other = format!("{pointer}{inside}");
                if other != change.pointer && !change.places.contains(&other) {
                    change.places.push(other);
                }
            }
            let mut names: Vec<String> = Vec::new();
            for name in change.places.iter().map(|pointer| format!("`{}`", place(pointer))) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            if names.is_empty() {
                continue;
            }
            let more = names.len().saturating_sub(MOST);
            names.truncate(MOST);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = write!(change.message, "; the same definition is used for {}{more}", names.join(", "));
        }
    }

    fn difference(&self, spot: &Spot, old: Value, new: Value, verdict: Verdict) -> Difference {
        Difference { pointer: spot.pointer.clone(), place: spot.place.clone(), old, new, verdict }
    }

    /// Returns whether the list of changes is full; then a person must look at the whole schema.
    fn is_crowded(&mut self) -> bool {
        self.crowded |= self.found.len() >= MAX_CHANGES;
        self.crowded
    }

    /// Keeps a change, unless the same rule has reported the same about the place. No change that affects security is left out.
    fn push(&mut self, change: SchemaChange) {
        if change.security || !self.is_crowded() {
            self.keep(change);
        }
    }

    fn keep(&mut self, change: SchemaChange) {
        let SchemaChange { rule, pointer, old, new, .. } = &change;
        if self.known.insert(json!([rule, pointer, old, new]).to_string()) {
            self.found.push(change);
        }
    }

    /// Unknown keywords that the walk did not visit.
    fn unknown_keywords(&mut self, old: &Value, new: &Value) {
        if self.found.iter().any(|change| ["I0", "O0"].contains(&change.rule)) {
            return;
        }
        let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
        unknown_keywords(old, &mut before);
        unknown_keywords(new, &mut after);
        if before != after {
            let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
                let texts: Vec<Value> = one.difference(other).cloned().map(Value::String).collect();
                if texts.is_empty() { Value::Null } else { Value::Array(texts) }
            };
            let difference = self.whole(only(&before, &after), only(&after, &before), Verdict::Inside);
            let change = if self.is_input() {
                inputs::unknown_keyword(difference)
            } else {
                outputs::unknown_keyword(difference)
            };
            self.push(change);
        }
    }

    /// Compares the whole schemas once more, and names a loss that no finding names.
    fn net(&mut self) {
        let (giver, taker) = sides(self.direction, self.roots.0, self.roots.1);
        let verdict = self.store.contained(giver, taker);
        if self.store.is_exhausted() || self.crowded {
            let reason = if self.crowded { TOO_MANY } else { TOO_COMPLEX };
            let difference = self.whole(Value::Null, Value::Null, Verdict::Unknown(reason.to_owned()));
            let is_input = self.is_input();
            return self.keep(if is_input { inputs::whole(difference) } else { outputs::whole(difference) });
        }
        let named = match &verdict {
            Verdict::Inside => true,
            // A loss that a rule only lists has a witness of its own.
            Verdict::Refuted(_) => self.found.iter().any(|change| {
                change.severity == Severity::Break
                    || change.severity == Severity::Ack && change.witness.is_some()
            }),
            Verdict::Unknown(_) => self.found.iter().any(|change| change.severity >= Severity::Ack),
        };
        if !named {
            let difference = self.whole(Value::Null, Value::Null, verdict);
            let change = if self.is_input() { inputs::whole(difference) } else { outputs::whole(difference) };
            self.push(change);
        }
    }

    /// Asks for a person where a keyword may mean something else than before although its text is the same.
    fn other_meaning(&mut self, old: &Value, new: &Value) {
        if let Some(reason) = other_meaning(old, new)
            && self.found.iter().all(|change| change.severity < Severity::Ack)
        {
            let difference = self.whole(Value::Null, Value::Null, Verdict::Unknown(reason));
            let is_input = self.is_input();
            self.push(if is_input { inputs::whole(difference) } else { outputs::whole(difference) });
        }
    }

    fn whole(&self, old: Value, new: Value, verdict: Verdict) -> Difference {
        let place = if self.is_input() { "the input" } else { "the output" };
        Difference { pointer: String::new(), place: place.to_owned(), old, new, verdict }
    }
}

/// Checks whether a schema is a list of values, of which one may be null.
fn is_list(normal: &Normal) -> bool {
    let plain = |case: &Case| ![Type::Null, Type::Boolean].contains(&case.kind);
    normal.cases.iter().all(|case| matches!(case.body, Body::Values(_)))
        && normal.cases.iter().any(plain)
        && normal.cases.iter().all(|case| case.kind != Type::Null)
}

fn type_names(normal: &Normal) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for case in &normal.cases {
        let name = match &case.body {
            Body::Number(numbers) if numbers.whole => "integer",
            _ => case.kind.name(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
