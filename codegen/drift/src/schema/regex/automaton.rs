//! One pattern as a dense automaton over UTF-8 bytes.

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use super::write;

/// Patterns longer than this are not read.
const MAX_PATTERN: usize = 10_000;
const NFA_BYTES: usize = 2 << 20;
const DFA_BYTES: usize = 4 << 20;
const WORK_BYTES: usize = 16 << 20;

/// All strings in which a pattern matches, as JSON Schema defines `pattern`: anywhere, unless anchored.
#[derive(Debug, Clone)]
pub struct Automaton {
    dense: dense::DFA<Vec<u32>>,
    start: StateID,
}

impl Automaton {
    /// `None` if the pattern is outside the dialect, or its automaton is larger than the limit.
    #[must_use]
    pub fn new(pattern: &str) -> Option<Self> {
        if pattern.len() > MAX_PATTERN {
            return None;
        }
        let inner = write::translate(pattern)?;
        let dense = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(StartKind::Anchored)
                    .match_kind(MatchKind::All)
                    .accelerate(false)
                    .dfa_size_limit(Some(DFA_BYTES))
                    .determinize_size_limit(Some(WORK_BYTES)),
            )
            .thompson(thompson::Config::new().nfa_size_limit(Some(NFA_BYTES)))
            .build(&format!("\\A(?s:.)*(?:{inner})(?s:.)*\\z"))
            .ok()?;
        let start = dense.start_state(&start::Config::new().anchored(Anchored::Yes)).ok()?;
        Some(Self { dense, start })
    }

    /// Checks whether the pattern matches in `text`.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        self.accepts(text.bytes().fold(self.start, |state, byte| self.dense.next_state(state, byte)))
    }

    pub(super) fn start(&self) -> StateID {
        self.start
    }

    pub(super) fn step(&self, state: StateID, byte: u8) -> StateID {
        self.dense.next_state(state, byte)
    }

    pub(super) fn accepts(&self, state: StateID) -> bool {
        self.dense.is_match_state(self.dense.next_eoi_state(state))
    }

    /// No continuation from here is accepted.
    pub(super) fn is_dead(&self, state: StateID) -> bool {
        self.dense.is_dead_state(state)
    }

    /// Bytes with the same number behave the same.
    pub(super) fn class(&self, byte: u8) -> u8 {
        self.dense.byte_classes().get(byte)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Automaton;

    #[test]
    fn search_is_unanchored_and_unicode() {
        let takes = |pattern: &str, text: &str| Automaton::new(pattern).unwrap().takes(text);
        assert!(takes("b+", "abba") && !takes("^b+$", "abba"));
        assert!(takes("^.$", "😀") && !takes("^.$", "\n") && !takes("^.$", "\u{2028}"));
        assert!(takes("^\\s$", "\u{feff}") && !takes("^\\w$", "é"));
        assert!(takes("", "") && takes("a|", "zz") && !takes("[]", "a") && takes("[^]", "\n"));
        assert!(takes("a$|^b", "bc") && takes("a$|^b", "ca") && !takes("a$|^b", "ab"));
    }

    #[test]
    fn limits_hold() {
        assert!(Automaton::new("[01]*1[01]{20}").is_none());
        assert!(Automaton::new(&"a".repeat(20_000)).is_none());
    }
}
