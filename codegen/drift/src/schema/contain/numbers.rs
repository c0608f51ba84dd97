//! Ranges of numbers, integers or not, and their steps.

use serde_json::Value;

use super::Trial;
use crate::schema::node::{Bound, Numbers};
use crate::schema::number::Num;

/// What a schema can demand of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberRule {
    Whole,
    Least,
    Most,
    Step,
}

impl NumberRule {
    pub(crate) const ALL: [Self; 4] = [Self::Whole, Self::Least, Self::Most, Self::Step];
}

/// Numbers of a range that are tried for a step.
const TRIED: usize = 200;

/// Checks whether all numbers of `one` obey a rule of `other`.
pub(crate) fn inside(rule: NumberRule, one: &Numbers, other: &Numbers) -> Trial {
    match rule {
        NumberRule::Whole if !other.whole || one.whole => Trial::proven(),
        NumberRule::Whole => Trial::open(values(fractions(one), one)),
        NumberRule::Least => least(one, other),
        NumberRule::Most => {
            let (mut one, mut other) = (one.clone(), other.clone());
            one.turn();
            other.turn();
            let mut trial = least(&one, &other);
            trial.candidates =
                trial.candidates.iter().filter_map(|value| Num::of(value)?.negated().value()).collect();
            trial
        }
        NumberRule::Step => {
            other.steps.iter().map(|step| stepwise(one, *step)).fold(Trial::proven(), Trial::and)
        }
    }
}

fn least(one: &Numbers, other: &Numbers) -> Trial {
    let Some(bound) = other.least else { return Trial::proven() };
    let inside = one.least.is_some_and(|least| match least.at.compare(bound.at) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => least.open || !bound.open,
        std::cmp::Ordering::Greater => true,
    });
    if inside || is_beyond_exact(one, bound) {
        return Trial::proven();
    }
    // Just below the bound, where most schemas accept numbers; then where this one begins.
    let mut tried = vec![bound.at];
    tried.extend(bound.at.floor().map(|below| Num::Int(below.saturating_sub(1))));
    tried.extend(bound.at.floor().map(Num::Int));
    tried.push(bound.at.plus(Num::Float(-0.5)));
    tried.push(bound.at.plus(Num::Float(-1e-6)));
    for step in &one.steps {
        let at = bound.at.negated().up_to_multiple(*step).negated();
        tried.push(at);
        tried.push(at.plus(step.negated()));
    }
    tried.extend(samples(one));
    let outside: Vec<Num> = tried.into_iter().filter(|number| !bound.allows_from_below(*number)).collect();
    let found = values(outside, one);
    // The integers between two bounds can all be tried: perhaps none of them is a multiple.
    if found.is_empty() && one.whole && runs_out(one, bound) {
        return Trial::proven();
    }
    Trial::open(found)
}

/// The least integer that a program with doubles tells from its neighbours, as RFC 8259 §6 asks of JSON that all read alike.
const LEAST_EXACT: i128 = -9_007_199_254_740_991;

/// Checks whether a bound only refuses integers that JSON clients cannot send exactly, where `one` sets no bound. Schema libraries
/// write such bounds for every integer.
fn is_beyond_exact(one: &Numbers, bound: Bound) -> bool {
    let exact = Num::Int(LEAST_EXACT);
    one.whole
        && one.least.is_none()
        && bound.allows_from_below(exact)
        && one.most.is_none_or(|most| most.allows_from_above(exact))
}

/// Returns whether one side alone has a bound, which refuses only integers that JSON clients cannot send exactly.
pub(crate) fn beyond_exact(rule: NumberRule, old: &Numbers, new: &Numbers) -> bool {
    let alone = |one: &Numbers, other: &Numbers| other.least.is_some_and(|bound| is_beyond_exact(one, bound));
    let (mut old, mut new) = (old.clone(), new.clone());
    match rule {
        NumberRule::Whole | NumberRule::Step => return false,
        NumberRule::Least => {}
        NumberRule::Most => {
            old.turn();
            new.turn();
        }
    }
    alone(&old, &new) || alone(&new, &old)
}

/// Checks each number of `one`: whether none lies below a bound.
fn runs_out(one: &Numbers, bound: Bound) -> bool {
    let first = one.least.and_then(|least| least.at.floor());
    let (Some(first), Some(end)) = (first, bound.at.floor()) else { return false };
    let span = end.saturating_sub(first);
    (0..=TRIED as i128).contains(&span)
        && (first..=end)
            .map(Num::Int)
            .all(|number| bound.allows_from_below(number) || takes(one, number) == Some(false))
}

fn stepwise(one: &Numbers, step: Num) -> Trial {
    if one.steps.iter().any(|own| own.is_multiple_of(step) == Some(true))
        || one.whole && Num::Int(1).is_multiple_of(step) == Some(true)
    {
        return Trial::proven();
    }
    let off = |number: &Num| number.is_multiple_of(step) == Some(false);
    let mut tried: Vec<Num> = samples(one).into_iter().filter(off).collect();
    tried.extend(fractions(one).into_iter().filter(off));
    Trial::open(values(tried, one))
}

/// Checks whether ranges without steps cover all numbers of `one`.
pub(super) fn covered(one: &Numbers, ranges: &[&Numbers]) -> bool {
    let Some((range, rest)) = ranges.split_first() else { return one.is_empty() };
    let mut below = one.clone();
    let mut above = one.clone();
    let nothing = Numbers {
        least: Some(Bound { at: Num::Int(1), open: false }),
        most: Some(Bound { at: Num::Int(0), open: false }),
        ..Numbers::default()
    };
    match range.least {
        Some(least) => below.lower(Bound { at: least.at, open: !least.open }),
        None => below = nothing.clone(),
    }
    match range.most {
        Some(most) => above.raise(Bound { at: most.at, open: !most.open }),
        None => above = nothing,
    }
    below.fold();
    above.fold();
    [below, above].iter().all(|part| part.is_empty() || covered(part, rest))
}

/// Checks whether a number belongs to a range.
pub(crate) fn takes(range: &Numbers, number: Num) -> Option<bool> {
    let in_bounds = range.least.is_none_or(|least| least.allows_from_below(number))
        && range.most.is_none_or(|most| most.allows_from_above(number))
        && (!range.whole || number.is_whole());
    if !in_bounds {
        return Some(false);
    }
    let mut all = Some(true);
    for step in &range.steps {
        match number.is_multiple_of(*step) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

fn values(numbers: Vec<Num>, range: &Numbers) -> Vec<Value> {
    numbers
        .into_iter()
        .filter(|number| takes(range, *number) == Some(true))
        .filter_map(Num::value)
        .take(8)
        .collect()
}

fn fractions(range: &Numbers) -> Vec<Num> {
    let mut starts = vec![Num::Int(0)];
    starts.extend(range.least.map(|least| least.at));
    starts.extend(range.most.map(|most| most.at.plus(Num::Int(-1))));
    let parts = [0.5, 0.25, 0.75, 0.1, 0.01, 0.001, 1.5];
    let mut found: Vec<Num> =
        starts.iter().flat_map(|start| parts.map(|part| start.plus(Num::Float(part)))).collect();
    if let (Some(least), Some(most)) = (range.least, range.most) {
        found.push(Num::Float(f64::midpoint(least.at.float(), most.at.float())));
    }
    found.retain(|number| !number.is_whole());
    found
}

/// Numbers near the interesting points of a range, the smallest first.
pub(crate) fn samples(range: &Numbers) -> Vec<Num> {
    let mut starts = vec![Num::Int(0), Num::Int(1), Num::Int(-1)];
    starts.extend(range.least.map(|least| least.at));
    starts.extend(range.most.map(|most| most.at));
    let mut found = starts.clone();
    let nudges = [Num::Int(1), Num::Int(-1), Num::Float(0.5), Num::Float(-0.5), Num::Int(2)];
    found.extend(starts.iter().flat_map(|start| nudges.map(|nudge| start.plus(nudge))));
    for step in &range.steps {
        for start in &starts {
            let mut at = start.up_to_multiple(*step);
            for _ in 0..6 {
                found.push(at);
                at = at.plus(*step);
            }
            found.push(start.up_to_multiple(*step).plus(step.negated()));
        }
    }
    found.retain(|number| takes(range, *number) == Some(true));
    found
}
