//! Patterns of JSON Schema, matched in linear time.
//!
//! JSON Schema has the patterns of ECMAScript, which engines usually match by trying one way after another: `^(a+)+$` takes them
//! minutes for thirty characters. Here a pattern becomes an automaton whose states are built when a text first needs them. A known state
//! costs one look-up a character; each new one takes *steps*, of which a caller has a fixed number.
//!
//! [`parse`] reads ECMAScript's Unicode mode (ECMA-262 §22.2.1) and refuses by name what no automaton matches: look-around and back
//! references. Pure.
//!
//! ```
//! use colibri_pattern::{Regex, Refusal, Steps};
//!
//! let regex = Regex::new("^(a+)+$").unwrap();
//! assert_eq!(regex.is_match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", &Steps::default()), Ok(false));
//! assert_eq!(Regex::new("^(?!x)").err(), Some(Refusal::LookAhead));
//! ```

mod automaton;
mod class;
mod parse;
mod program;
mod refusal;

use std::sync::{Mutex, PoisonError};

pub use automaton::{Exhausted, MAX_STEPS, Steps};
pub use class::Class;
pub use parse::{Node, parse};
pub use refusal::Refusal;

use automaton::Automaton;
use parse::parse_legacy;
use program::Program;

/// A compiled pattern.
#[derive(Debug)]
pub struct Regex {
    program: Program,
    /// What earlier texts have built.
    automaton: Mutex<Automaton>,
}

impl Regex {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Why the pattern has no automaton.
    pub fn new(pattern: &str) -> Result<Self, Refusal> {
        Self::of(&parse(pattern)?)
    }

    /// Compiles a pattern as engines do without the flag `u`: `\-` is a sign there.
    ///
    /// # Errors
    /// Why the pattern has no automaton.
    pub fn legacy(pattern: &str) -> Result<Self, Refusal> {
        Self::of(&parse_legacy(pattern)?)
    }

    fn of(node: &Node) -> Result<Self, Refusal> {
        let program = Program::new(node)?;
        let automaton = Mutex::new(Automaton::new(&program));
        Ok(Self { program, automaton })
    }

    /// Returns whether the pattern matches anywhere in the text, unless it is anchored.
    ///
    /// # Errors
    /// The steps that were left did not suffice.
    pub fn is_match(&self, text: &str, steps: &Steps) -> Result<bool, Exhausted> {
        // A thread that panicked while it held the lock left at worst a transition that is not known yet.
        self.automaton.lock().unwrap_or_else(PoisonError::into_inner).run(&self.program, text, steps)
    }
}
