//! Strings: compares lengths and patterns by automata.

use std::rc::Rc;

use serde_json::Value;

use super::Trial;
use crate::schema::node::Texts;
use crate::schema::regex::{Automaton, Found, Wanted, shortest};
use crate::schema::store::Store;

/// What a schema can demand of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextRule {
    Least,
    Most,
    Pattern,
}

impl TextRule {
    pub(crate) const ALL: [Self; 3] = [Self::Least, Self::Most, Self::Pattern];
}

/// Strings that patterns outside the dialect often match.
const COMMON: [&str; 16] = [
    "",
    "a",
    "0",
    "A",
    "aa",
    "abc",
    "example",
    "Example1!",
    "1.0.0",
    "a@b.co",
    "https://example.com/a",
    "/a/b",
    "2024-01-31",
    "2024-01-31T12:00:00Z",
    "123e4567-e89b-42d3-a456-426614174000",
    "aaaaaaaaaaaaaaaaaaaa",
];

impl Store<'_> {
    /// Checks whether all strings of `one` obey a rule of `other`.
    pub(crate) fn text_inside(&self, rule: TextRule, one: &Texts, other: &Texts) -> Trial {
        match rule {
            TextRule::Least if one.least >= other.least => Trial::proven(),
            TextRule::Least => {
                let most = other.least - 1;
                let most = one.most.map_or(most, |own| own.min(most));
                self.text_trial(one, None, one.least, Some(most))
            }
            TextRule::Most => match other.most {
                None => Trial::proven(),
                Some(most) if one.most.is_some_and(|own| own <= most) => Trial::proven(),
                Some(most) => self.text_trial(one, None, one.least.max(most.saturating_add(1)), one.most),
            },
            TextRule::Pattern => {
                let added = other.patterns.difference(&one.patterns);
                added.map(|pattern| self.pattern_inside(one, pattern)).fold(Trial::proven(), Trial::and)
            }
        }
    }

    fn pattern_inside(&self, one: &Texts, pattern: &str) -> Trial {
        match self.automaton(pattern) {
            Some(automaton) => self.text_trial(one, Some(&automaton), one.least, one.most),
            None => {
                let mut trial = Trial::undecided(format!(
                    "the pattern {pattern:?} is outside the portable dialect, or its automaton is too large"
                ));
                trial.candidates = self.text_samples(one);
                trial.candidates.retain(|text| {
                    text.as_str().is_some_and(|text| self.matches(pattern, text) == Some(false))
                });
                trial
            }
        }
    }

    /// Searches for a string of `one` that has the given lengths and is refused. If none exists, the rule is proven.
    fn text_trial(
        &self,
        one: &Texts,
        refused_by: Option<&Automaton>,
        least: u64,
        most: Option<u64>,
    ) -> Trial {
        match self.search(one, refused_by, least, most) {
            Found::Nothing => Trial::proven(),
            Found::Text(text) => {
                let mut candidates = vec![Value::String(text)];
                if one.patterns.iter().any(|pattern| self.automaton(pattern).is_none()) {
                    candidates.extend(self.text_samples(one));
                }
                Trial::open(candidates)
            }
            Found::TooMuch => {
                let mut trial = Trial::undecided("the patterns need too large a search".to_owned());
                trial.candidates = self.text_samples(one);
                trial
            }
        }
    }

    /// Ignores patterns outside the dialect, so that a search may find too much but never too little.
    fn search(&self, one: &Texts, refused_by: Option<&Automaton>, least: u64, most: Option<u64>) -> Found {
        let automata: Vec<Rc<Automaton>> =
            one.patterns.iter().filter_map(|pattern| self.automaton(pattern)).collect();
        let taken_by: Vec<&Automaton> = automata.iter().map(Rc::as_ref).collect();
        shortest(&Wanted { taken_by: &taken_by, refused_by, least, most })
    }

    /// Returns some strings of a case, the shortest first.
    pub(crate) fn text_samples(&self, texts: &Texts) -> Vec<Value> {
        let mut found = Vec::new();
        let mut least = texts.least;
        for _ in 0..4 {
            match self.search(texts, None, least, texts.most) {
                Found::Text(text) => {
                    least = text.chars().count() as u64 + 1;
                    found.push(text);
                }
                Found::Nothing | Found::TooMuch => break,
            }
        }
        if let Some(most) = texts.most.filter(|most| (least..=1000).contains(most))
            && let Found::Text(text) = self.search(texts, None, most, Some(most))
        {
            found.push(text);
        }
        found.extend(COMMON.map(str::to_owned));
        let mut seen = Vec::new();
        for text in found {
            let length = text.chars().count() as u64;
            let fits = length >= texts.least
                && texts.most.is_none_or(|most| length <= most)
                && texts.patterns.iter().all(|pattern| self.matches(pattern, &text) == Some(true));
            if fits && !seen.contains(&text) {
                seen.push(text);
            }
        }
        seen.into_iter().map(Value::String).collect()
    }
}
