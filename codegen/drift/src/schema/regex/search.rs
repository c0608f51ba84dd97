//! Finds the shortest string that some patterns match and another does not: breadth first over the product of
//! their automata.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use regex_automata::util::primitives::StateID;

use super::Automaton;

/// The most states of the product that a search visits.
const MAX_STATES: usize = 60_000;
/// Strings longer than this are not written out.
const MAX_TEXT: u64 = 1 << 20;

/// The demands on the string.
pub(crate) struct Wanted<'a> {
    pub taken_by: &'a [&'a Automaton],
    pub refused_by: Option<&'a Automaton>,
    /// Fewest and most characters (code points).
    pub least: u64,
    pub most: Option<u64>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A shortest such string.
    Text(String),
    /// No such string exists.
    Nothing,
    /// The search was too large.
    TooMuch,
}

/// Finds a shortest string that meets the demands.
pub(crate) fn shortest(wanted: &Wanted<'_>) -> Found {
    if wanted.most.is_some_and(|most| most < wanted.least) {
        return Found::Nothing;
    }
    if wanted.taken_by.is_empty() && wanted.refused_by.is_none() {
        return match usize::try_from(wanted.least) {
            Ok(length) if wanted.least <= MAX_TEXT => Found::Text("a".repeat(length)),
            _ => Found::TooMuch,
        };
    }
    let Some(any) = any() else { return Found::TooMuch };
    let only_any = [any];
    let wanted =
        &Wanted { taken_by: if wanted.taken_by.is_empty() { &only_any } else { wanted.taken_by }, ..*wanted };
    // Without the upper bound there are far fewer states, and most answers are found that way.
    let free = Search::new(wanted, None).run();
    match (&free, wanted.most) {
        (Found::Text(text), Some(most)) if text.chars().count() as u64 > most => {
            Search::new(wanted, Some(most)).run()
        }
        _ => free,
    }
}

/// An automaton that matches every string; without it, a search could leave UTF-8.
fn any() -> Option<&'static Automaton> {
    static ANY: OnceLock<Option<Automaton>> = OnceLock::new();
    ANY.get_or_init(|| Automaton::new("")).as_ref()
}

struct Search<'a> {
    automata: Vec<&'a Automaton>,
    /// The last automaton must refuse the string.
    last_refuses: bool,
    least: u64,
    most: Option<u64>,
    bytes: Vec<u8>,
}

/// A state of every automaton, and the number of characters up to the limit that matters.
type State = (Vec<StateID>, u64);

impl<'a> Search<'a> {
    fn new(wanted: &Wanted<'a>, most: Option<u64>) -> Self {
        let mut automata = wanted.taken_by.to_vec();
        automata.extend(wanted.refused_by);
        let bytes = representatives(&automata);
        Self { automata, last_refuses: wanted.refused_by.is_some(), least: wanted.least, most, bytes }
    }

    fn run(&self) -> Found {
        let first: State = (self.automata.iter().map(|automaton| automaton.start()).collect(), 0);
        if self.is_wanted(&first) {
            return Found::Text(String::new());
        }
        let mut seen = HashMap::from([(first.clone(), 0_usize)]);
        let mut queue = vec![(first, 0_usize, 0_u8)];
        let mut at = 0;
        while at < queue.len() {
            let state = queue[at].0.clone();
            for &byte in &self.bytes {
                let Some(next) = self.step(&state, byte) else { continue };
                let Entry::Vacant(entry) = seen.entry(next) else { continue };
                let next = entry.key().clone();
                entry.insert(at);
                let wanted = self.is_wanted(&next);
                queue.push((next, at, byte));
                if wanted {
                    return text(&queue);
                }
                if queue.len() > MAX_STATES {
                    return Found::TooMuch;
                }
            }
            at += 1;
        }
        Found::Nothing
    }

    fn takers(&self) -> usize {
        self.automata.len() - usize::from(self.last_refuses)
    }

    fn is_wanted(&self, (states, length): &State) -> bool {
        *length >= self.least
            && self
                .automata
                .iter()
                .zip(states)
                .enumerate()
                .all(|(index, (automaton, state))| automaton.accepts(*state) == (index < self.takers()))
    }

    /// Takes a step; `None` if no wanted string can follow.
    fn step(&self, (states, length): &State, byte: u8) -> Option<State> {
        let starts_character = byte & 0xC0 != 0x80;
        let length = length + u64::from(starts_character);
        if self.most.is_some_and(|most| length > most) {
            return None;
        }
        let length = if self.most.is_none() { length.min(self.least) } else { length };
        let mut next = Vec::with_capacity(states.len());
        for (index, (automaton, state)) in self.automata.iter().zip(states).enumerate() {
            let state = automaton.step(*state, byte);
            if index < self.takers() && automaton.is_dead(state) {
                return None;
            }
            next.push(state);
        }
        Some((next, length))
    }
}

fn text(queue: &[(State, usize, u8)]) -> Found {
    let mut bytes = Vec::new();
    let mut at = queue.len() - 1;
    while at > 0 {
        bytes.push(queue[at].2);
        at = queue[at].1;
    }
    bytes.reverse();
    String::from_utf8(bytes).map_or(Found::TooMuch, Found::Text)
}

/// Returns one byte for each group that all automata treat alike, the most readable byte first.
fn representatives(automata: &[&Automaton]) -> Vec<u8> {
    let mut readable: Vec<u8> = (0..=255).collect();
    readable.sort_by_key(|byte| match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b'-' | b'_' => 3,
        b'!'..=b'~' => 4,
        b' ' => 5,
        _ => 6,
    });
    let mut seen = Vec::new();
    readable
        .into_iter()
        .filter(|byte| {
            // A continuation byte is counted differently even where automata do not care.
            let mut key: Vec<u8> = automata.iter().map(|automaton| automaton.class(*byte)).collect();
            key.push(u8::from(byte & 0xC0 == 0x80));
            let fresh = !seen.contains(&key);
            if fresh {
                seen.push(key);
            }
            fresh
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn between(old: &str, new: &str, least: u64, most: Option<u64>) -> Found {
        let (old, new) = (Automaton::new(old).unwrap(), Automaton::new(new).unwrap());
        shortest(&Wanted { taken_by: &[&old], refused_by: Some(&new), least, most })
    }

    #[test]
    fn inclusion_is_decided_with_a_shortest_string() {
        let text = |text: &str| Found::Text(text.to_owned());
        assert_eq!(between("^[a-f]+$", "^[a-z]+$", 0, None), Found::Nothing);
        assert_eq!(between("^[a-z]+$", "^[a-f]+$", 0, None), text("g"));
        assert_eq!(between("^a{3,9}$", "^a{1,5}$", 0, None), text("aaaaaa"));
        assert_eq!(between("^a{3,9}$", "^a{1,5}$", 0, Some(5)), Found::Nothing);
        assert_eq!(between("^a*$", "^(aa)*$", 4, Some(6)), text("aaaaa"));
        assert_eq!(between("^.$", "^[\\x00-\\x7F]$", 0, None), text("\u{80}"));
        assert_eq!(between("^(a|b)*$", "^[ab]*$", 0, None), Found::Nothing);
        assert_eq!(between("a", "^a", 0, None), text("ba"));
        let refused = Automaton::new("^[\\x00-\\x7F]*$").unwrap();
        let wanted = Wanted { taken_by: &[], refused_by: Some(&refused), least: 0, most: None };
        assert_eq!(shortest(&wanted), text("\u{80}"));
    }
}
