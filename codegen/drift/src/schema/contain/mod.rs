//! Decides whether every value of one schema fits another: proven, refuted by a value, or undecided.
//!
//! Proofs use the normal form. A refutation is a value that the validator accepted on one side and refused
//! on the other. Anything else is undecided, never guessed.

mod arrays;
pub(crate) mod numbers;
mod objects;
mod texts;

use serde_json::Value;

use super::node::{Body, Case, Type};
use super::store::{NodeId, Store, TOO_COMPLEX};

pub(crate) use arrays::ArrayRule;
pub(crate) use numbers::NumberRule;
pub(crate) use objects::ObjectRule;
pub(crate) use texts::TextRule;

/// The answer to "does every value of this fit that?".
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// Proven.
    Inside,
    /// This value fits the first and not the second.
    Refuted(Value),
    /// Neither, for this reason.
    Unknown(String),
}

/// A test of one rule: whether it is proven, and values that may refute it.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    pub open: bool,
    pub reason: Option<String>,
    pub candidates: Vec<Value>,
}

impl Trial {
    pub(crate) fn proven() -> Self {
        Self::default()
    }

    pub(crate) fn open(candidates: Vec<Value>) -> Self {
        Self { open: true, reason: None, candidates }
    }

    pub(crate) fn undecided(reason: String) -> Self {
        Self { open: true, reason: Some(reason), candidates: Vec::new() }
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        self.open |= other.open;
        self.reason = self.reason.or(other.reason);
        self.candidates.extend(other.candidates);
        self
    }
}

/// The reason for an undecided answer if no better one is known.
pub(crate) const NOT_DECIDED: &str = "neither a proof nor a counterexample was found";

impl Store<'_> {
    /// Decides whether every value of `inner` fits `outer`.
    pub(crate) fn contained(&self, inner: NodeId, outer: NodeId) -> Verdict {
        if outer == NodeId::ANY || inner == outer {
            return Verdict::Inside;
        }
        if let Some(known) = self.verdicts.borrow().get(&(inner, outer)) {
            return known.clone();
        }
        // The pair is under examination already, and comes back on a smaller value: assume that it holds, for now.
        if self.asked.borrow().contains(&(inner, outer)) {
            self.assumed.set(true);
            return Verdict::Inside;
        }
        if !self.step() || !self.spend(1) || self.is_too_deep(self.asked.borrow().len()) {
            return Verdict::Unknown(TOO_COMPLEX.to_owned());
        }
        let outermost = self.asked.borrow().is_empty();
        self.asked.borrow_mut().push((inner, outer));
        let verdict =
            if self.reads_same(inner, outer) { Verdict::Inside } else { self.compare(inner, outer) };
        self.asked.borrow_mut().pop();
        // A verdict that depends on an assumption is known only when the outermost question is.
        if outermost {
            self.assumed.set(false);
        }
        if verdict != Verdict::Inside || !self.assumed.get() {
            self.verdicts.borrow_mut().insert((inner, outer), verdict.clone());
        }
        verdict
    }

    fn compare(&self, inner: NodeId, outer: NodeId) -> Verdict {
        let (one, other) = (self.normal(inner), self.normal(outer));
        let mut unknown = None;
        for case in &one.cases {
            let trial = self.case_inside(inner, case, outer, &other.cases);
            match self.settle(inner, outer, trial) {
                Verdict::Inside => {}
                Verdict::Unknown(reason) => unknown = unknown.or(Some(reason)),
                refuted => return refuted,
            }
        }
        unknown.map_or(Verdict::Inside, Verdict::Unknown)
    }

    /// Checks a trial's candidates with the validator.
    pub(crate) fn settle(&self, inner: NodeId, outer: NodeId, trial: Trial) -> Verdict {
        if !trial.open {
            return Verdict::Inside;
        }
        match trial.candidates.into_iter().find(|value| self.separates(inner, outer, value)) {
            Some(value) => Verdict::Refuted(value),
            None => Verdict::Unknown(trial.reason.unwrap_or_else(|| NOT_DECIDED.to_owned())),
        }
    }

    pub(crate) fn separates(&self, inner: NodeId, outer: NodeId, value: &Value) -> bool {
        self.fits(outer, value) == Some(false) && self.fits(inner, value) == Some(true)
    }

    /// Whether a case lies in a single one of the others; if not, whether its values show that it lies in
    /// none of them.
    pub(crate) fn case_inside(&self, inner: NodeId, case: &Case, outer: NodeId, others: &[Case]) -> Trial {
        if let Body::Values(values) = &case.body {
            return values
                .iter()
                .map(|value| self.value_inside(outer, value))
                .fold(Trial::proven(), Trial::and);
        }
        let mut trial = Trial::open(Vec::new());
        for other in others.iter().filter(|other| other.kind == case.kind) {
            let one = self.within(case, other);
            if !one.open {
                return one;
            }
            trial = trial.and(one);
        }
        if self.covered(case, others) {
            return Trial::proven();
        }
        if !trial.candidates.iter().any(|value| self.separates(inner, outer, value)) {
            trial.candidates.extend(self.case_samples(case));
            trial.candidates.extend(self.samples(inner).iter().cloned());
        }
        trial
    }

    fn value_inside(&self, outer: NodeId, value: &Value) -> Trial {
        match self.fits(outer, value) {
            Some(true) => Trial::proven(),
            Some(false) => Trial::open(vec![value.clone()]),
            None => Trial::undecided(format!("it is not known whether {value} fits")),
        }
    }

    /// Checks whether a case lies in another of its type.
    pub(crate) fn within(&self, case: &Case, other: &Case) -> Trial {
        let mut trial = match (&case.body, &other.body) {
            (Body::Number(one), Body::Number(other)) => NumberRule::ALL
                .iter()
                .map(|rule| numbers::inside(*rule, one, other))
                .fold(Trial::proven(), Trial::and),
            (Body::Text(one), Body::Text(other)) => TextRule::ALL
                .iter()
                .map(|rule| self.text_inside(*rule, one, other))
                .fold(Trial::proven(), Trial::and),
            (Body::Array(one), Body::Array(other)) => self.array_within(one, other),
            (Body::Object(one), Body::Object(other)) => self.object_within(one, other),
            _ => Trial::open(self.case_samples(case)),
        };
        for (text, residue) in &other.residue {
            if !case.residue.contains_key(text) {
                let keyword = if residue.keyword.is_empty() { "a schema" } else { &residue.keyword };
                trial = trial.and(Trial::undecided(format!("`{keyword}` is compared by its text only")));
            }
        }
        trial
    }

    /// Checks whether numbers lie in several ranges that together leave no gap.
    fn covered(&self, case: &Case, others: &[Case]) -> bool {
        let Body::Number(numbers) = &case.body else { return false };
        let plain = others.iter().filter(|other| other.kind == Type::Number && other.residue.is_empty());
        let ranges: Vec<_> = plain
            .filter_map(|other| match &other.body {
                Body::Number(range) if range.steps.is_empty() && (numbers.whole || !range.whole) => {
                    Some(range)
                }
                _ => None,
            })
            .collect();
        numbers::covered(numbers, &ranges)
    }
}
