//! The byte budget of `tools/list`: what a client reads before it can do anything.

use crate::catalogue::{Catalogue, Finding};

/// Holds the listing the emitter made against the head's budget.
#[must_use]
pub fn check(catalogue: &Catalogue, listing_bytes: usize) -> Option<Finding> {
    let budget = catalogue.head.budget.tools_list_bytes;
    if listing_bytes <= budget {
        return None;
    }
    Some(Finding {
        at: catalogue.locate(&catalogue.head_place().child("budget").child("tools_list_bytes")),
        rule: "budget",
        message: format!("`tools/list` has {listing_bytes} bytes, the budget is {budget}"),
        help: "shorten descriptions and schemas, or raise the budget if clients can bear it".to_owned(),
    })
}
