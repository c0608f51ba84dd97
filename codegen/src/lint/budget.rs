//! The byte budgets of `tools/list`: what a client reads before it can do anything.

use crate::catalogue::{Catalogue, Finding, Place};

/// Holds the listings the emitter made against the head's budgets: of all tools, and of a toolset by its name.
#[must_use]
pub fn check(catalogue: &Catalogue, all: usize, of_set: impl Fn(&str) -> usize) -> Vec<Finding> {
    let (budget, place) = (&catalogue.head.budget, catalogue.head_place().child("budget"));
    let whole = (place.child("tools_list_bytes"), "`tools/list`".to_owned(), all, budget.tools_list_bytes);
    let sets = budget.toolset_bytes.iter().map(|(name, limit)| {
        let place = place.child("toolset_bytes").child(name);
        (place, format!("`tools/list` of the toolset `{name}`"), of_set(name), *limit)
    });
    let over = std::iter::once(whole).chain(sets).filter(|(_, _, bytes, limit)| bytes > limit);
    over.map(|(place, what, bytes, limit)| finding(catalogue, &place, &what, bytes, limit)).collect()
}

fn finding(catalogue: &Catalogue, place: &Place, what: &str, bytes: usize, limit: usize) -> Finding {
    Finding {
        at: catalogue.locate(place),
        rule: "budget",
        message: format!("{what} has {bytes} bytes, the budget is {limit}"),
        help: "shorten descriptions and schemas, or raise the budget if clients can bear it".to_owned(),
    }
}
