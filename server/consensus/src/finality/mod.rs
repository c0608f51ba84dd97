//! Finality (consensus#finality): how far one round has come, and the bytes that prove it. Pure.
//!
//! ```text
//! machine ---- votes, equivocations and seals in; levels and transitions out
//!  |- tally     who has accepted what, over all epochs and in the present one
//!  '- evidence  what proves each transition
//! ```

mod error;
mod evidence;
mod machine;
mod tally;

pub use crate::level::FinalityLevel;
pub use error::{Divergence, FinalityError};
pub use machine::{DISPUTE_WINDOW_EPOCHS_DEFAULT, FinalityMachine, Transition, VoteOutcome};
