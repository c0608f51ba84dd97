//! The pure code of tasks: which steps are legal, the search for cycles, the rules of claims, and histories. Same input, same
//! output.

pub(crate) mod change;
pub(crate) mod claims;
pub(crate) mod dependencies;
pub(crate) mod event;
pub(crate) mod fold;
pub(crate) mod state;
