//! The pure code of tasks: which steps are legal, and the search for cycles. Same input, same output.

pub(crate) mod dependencies;
pub(crate) mod state;
