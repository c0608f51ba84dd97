//! Patterns as automata: whether one accepts every string that another accepts, and if not, the
//! shortest string that shows it.
//!
//! Only a portable dialect is read ([`write`]). Any other pattern is undecided, and so is one whose automaton
//! or search exceeds a fixed limit.

mod automaton;
mod search;
mod write;

pub use automaton::Automaton;
pub(crate) use search::{Found, Wanted, shortest};
