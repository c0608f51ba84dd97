//! Reads the file, with the line of what is wrong in it.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use super::{Config, unknown};
use crate::rules::rule;
use crate::waiver::Waiver;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable(String);

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

impl Config {
    /// Reads `mcp-drift.yaml`.
    ///
    /// # Errors
    /// A key or a rule is unknown, or a value has another form; the message names the line.
    pub fn parse(text: &str) -> Result<Self, Unusable> {
        let config: Option<Self> = serde_yaml::from_str(text).map_err(|error| Unusable(error.to_string()))?;
        config.unwrap_or_default().with_lines(text).checked()
    }

    /// Reads the member `drift:` of a catalogue's head, or of a file that holds nothing else. Other members are ignored, so that a
    /// head of any version serves.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_head(text: &str) -> Result<Self, Unusable> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            drift: Config,
        }
        let head: Head = serde_yaml::from_str(text).map_err(|error| Unusable(error.to_string()))?;
        Ok(head.drift.with_lines(text))
    }

    /// Notes the line of each waiver, where each begins a line of its own.
    fn with_lines(mut self, text: &str) -> Self {
        let below = text.lines().zip(1..).skip_while(|(line, _)| !line.trim().starts_with("waivers:"));
        let items = below.filter(|(line, _)| line.trim_start().starts_with('-'));
        let items: Vec<(usize, usize)> =
            items.map(|(line, number)| (line.len() - line.trim_start().len(), number)).collect();
        let depth = items.first().map(|(depth, _)| *depth);
        let lines: Vec<usize> =
            items.into_iter().filter(|(at, _)| Some(*at) == depth).map(|(_, number)| number).collect();
        if lines.len() == self.waivers.len() {
            self.waivers.iter_mut().zip(lines).for_each(|(waiver, line)| waiver.line = Some(line));
        }
        self
    }

    fn checked(self) -> Result<Self, Unusable> {
        self.waivers.iter().try_for_each(check)?;
        Ok(self)
    }
}

/// Says what is wrong with a waiver, beyond its form.
fn check(waiver: &Waiver) -> Result<(), Unusable> {
    let at = waiver.line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let wrong = |what: String| Err(Unusable(format!("waivers: {what}{at}")));
    if rule(&waiver.rule).is_none() {
        return wrong(unknown(&waiver.rule));
    }
    match &waiver.expires {
        Some(day) if !is_day(day) => wrong(format!("`expires: {day}` is not a day such as 2027-03-01")),
        _ => Ok(()),
    }
}

/// Returns whether a text is a day as `2027-03-01`, so that days compare as texts.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize, most: u32| {
        part.len() == digits
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|number: u32| (1..=most).contains(&number))
    };
    matches!(parts[..], [year, month, day] if number(year, 4, 9999) && number(month, 2, 12) && number(day, 2, 31))
}

/// Returns today's day in UTC, as `2026-11-26`.
#[must_use]
pub fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    day(seconds / 86_400)
}

/// Returns the date that lies this number of days after 1970-01-01. Years begin in March here, so that the leap day is the last one.
fn day(since_1970: u64) -> String {
    let days = since_1970 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + next)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn days_are_counted() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (19_723, "2024-01-01"),
            (20_783, "2026-11-26"),
        ] {
            assert_eq!(day(days), text);
            assert!(is_day(text));
        }
        for wrong in ["2026-13-01", "2026-1-01", "soon", "2026-11-26T00:00", "", "2026-11-00"] {
            assert!(!is_day(wrong), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, told) in [
            ("fail-on: break\nprofil: strict\n", "unknown field `profil`"),
            (
                "rules:\n  tool-descripton-changed: info\n",
                "did you mean `tool-description-changed`? at line 2",
            ),
            ("rules:\n  T5: info\n  tool-description-changed: off\n", "(T5) is set twice"),
            ("rules:\n  T5: loud\n", "unknown variant `loud`"),
            ("fail-on: sometimes\n", "unknown variant `sometimes`"),
            (
                "waivers:\n  - rule: T5\n    reason: Yes.\n  - rule: version-not-bumpd\n    reason: No.\n",
                "did you mean `version-not-bumped`? at line 4",
            ),
            ("waivers:\n  - {rule: T5, reason: Yes., expires: soon}\n", "`expires: soon` is not a day"),
            ("waivers:\n  - {rule: T5}\n", "missing field `reason`"),
            ("- a\n", "expected keys such as `fail-on` and `rules`"),
        ] {
            let error = Config::parse(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
            // What is wrong with the file as a whole has no line.
            let is_whole = text == "- a\n" || told.contains("is set twice");
            assert!(error.contains("line ") || is_whole, "{text}: {error}");
        }
    }

    #[test]
    fn an_empty_file_decides_nothing() {
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(Config::parse("# nothing\n").unwrap(), Config::default());
    }
}
