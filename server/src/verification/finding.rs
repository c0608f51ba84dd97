//! Findings of all checks, counted per code, with the first of each.

use std::fmt;

use serde::Serialize;

/// The most characters of a subject and of a message. The longest regular ones name three texts of 256 characters.
const MOST_OF_SUBJECT: usize = 600;
const MOST_OF_MESSAGE: usize = 2_000;

/// A state of the database that the server cannot have produced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// Its kind.
    pub code: &'static str,
    /// The record it is about: table and key.
    pub subject: String,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.check, self.code, self.message)
    }
}

/// A kind of finding: its number, and the first one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The number of findings.
    pub count: u64,
    /// The first finding.
    #[serde(flatten)]
    pub first: Finding,
}

/// All findings of a run in constant memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings(Vec<Found>);

impl Findings {
    /// Counts a finding. `describe` returns subject and message, and is called for the first of its kind only.
    pub fn add(
        &mut self,
        check: &'static str,
        code: &'static str,
        describe: impl FnOnce() -> (String, String),
    ) {
        let known = self.0.iter_mut().find(|found| found.first.check == check && found.first.code == code);
        if let Some(found) = known {
            found.count += 1;
            return;
        }
        let (subject, message) = describe();
        let (subject, message) = (shortened(subject, MOST_OF_SUBJECT), shortened(message, MOST_OF_MESSAGE));
        self.0.push(Found { count: 1, first: Finding { check, code, subject, message } });
    }

    /// Moves the findings of a check before the others.
    pub(crate) fn put_first(&mut self, check: &str) {
        self.0.sort_by_key(|found| found.first.check != check);
    }

    /// Returns the number of findings of a check.
    pub fn of(&self, check: &str) -> u64 {
        self.0.iter().filter(|found| found.first.check == check).map(|found| found.count).sum()
    }

    /// Returns one entry per kind, in order of occurrence.
    pub fn kinds(&self) -> &[Found] {
        &self.0
    }

    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Shortens a text to about `most` characters by omitting its middle. A value from a file may be long, and the end of
/// a sentence names the fault.
fn shortened(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let characters = text.chars().count();
    let Some(left_out) = characters.checked_sub(most).filter(|left_out| *left_out > 0) else { return text };
    let head = text.chars().take(most / 2);
    let tail = text.chars().skip(characters - (most - most / 2));
    head.chain(format!(" ({left_out} characters) ").chars()).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_two_ends() {
        assert_eq!(shortened("äöü".to_owned(), 3), "äöü");
        assert_eq!(shortened("abcdefgh".to_owned(), 5), "ab (3 characters) fgh");
        let mut findings = Findings::default();
        findings.add("trail", "A", || ("i".repeat(9_000), format!("record {}: is bad", "i".repeat(9_000))));
        let first = &findings.kinds()[0].first;
        assert!(first.subject.len() < 700 && first.message.len() < 2_100);
        assert!(first.message.ends_with("i: is bad"));
    }

    #[test]
    fn findings_are_counted_and_the_first_of_a_kind_is_kept() {
        let mut findings = Findings::default();
        for row in 1..=3 {
            findings.add("log", "A", || (format!("row {row}"), "is bad".to_owned()));
        }
        findings.add("trail", "A", || ("other".to_owned(), "too".to_owned()));
        assert_eq!((findings.of("log"), findings.of("trail"), findings.of("none")), (3, 1, 0));
        assert_eq!(findings.kinds()[0].count, 3);
        assert_eq!(findings.kinds()[0].first.subject, "row 1");
        assert_eq!(findings.kinds()[1].first.to_string(), "trail A: too");
    }
}
