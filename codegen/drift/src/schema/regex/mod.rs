//! Patterns as automata: whether every string that one takes is taken by another, and if not, the
//! shortest string that shows it.
//!
//! Only a portable dialect is read ([`parse`]); everything else is undecided, and so is what would need
//! automata or searches beyond fixed limits.

mod automaton;
mod class;
mod parse;
mod search;

pub use automaton::Automaton;
pub(crate) use search::{Found, Wanted, shortest};
