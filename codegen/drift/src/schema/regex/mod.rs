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

/// Whether `pattern` belongs to the dialect whose inclusion can be decided.
///
/// ```
/// use colibri_drift::schema::regex::Automaton;
///
/// assert!(Automaton::new("^[a-z]{1,8}$").is_some());
/// assert!(Automaton::new("^(?=.*[0-9]).+$").is_none());
/// ```
#[must_use]
pub fn is_portable(pattern: &str) -> bool {
    parse::translate(pattern).is_some()
}
