//! Which tools a run of `colibri wrap` admits by their names: `--allow`, `--deny` and `--read-only`.

use std::fmt;
use std::str::FromStr;

/// The most patterns that a command line may have, of both kinds together.
const PATTERNS: usize = 64;
/// The longest pattern, in characters.
const PATTERN_LENGTH: usize = 128;
/// The longest tool name that is compared, in bytes. A client may send one of megabytes, and comparing it would take long;
/// it matches every pattern of `--deny` and none of `--allow`.
const NAME_BYTES: usize = 4_096;

/// A pattern for whole names of tools: `*` stands for any characters, `?` for one. Case counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

/// Why a pattern is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPattern {
    /// It is empty, and so would match no tool.
    Empty,
    /// It is too long.
    Long,
    /// There are too many.
    Many,
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a pattern has at least one character; * matches every tool"),
            Self::Long => write!(f, "a pattern has at most {PATTERN_LENGTH} characters"),
            Self::Many => write!(f, "there are at most {PATTERNS} patterns of --allow and --deny"),
        }
    }
}

impl std::error::Error for BadPattern {}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        match text.chars().count() {
            0 => Err(BadPattern::Empty),
            1..=PATTERN_LENGTH => Ok(Self(text.to_owned())),
            _ => Err(BadPattern::Long),
        }
    }
}

impl Pattern {
    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the whole name fits.
    pub fn matches(&self, name: &str) -> bool {
        let (mut pattern, mut rest) = (self.0.chars(), name.chars());
        // Where the last `*` stands, and from where it is tried to stand for one character more.
        let mut star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
        loop {
            let (mut next_pattern, mut next_rest) = (pattern.clone(), rest.clone());
            match (next_pattern.next(), next_rest.next()) {
                (Some('*'), _) => {
                    star = Some((next_pattern.clone(), rest.clone()));
                    pattern = next_pattern;
                }
                (Some(wanted), Some(letter)) if wanted == '?' || wanted == letter => {
                    (pattern, rest) = (next_pattern, next_rest);
                }
                (None, None) => return true,
                _ => {
                    let Some((behind, from)) = &mut star else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    (pattern, rest) = (behind.clone(), from.clone());
                }
            }
        }
    }
}

/// What a run admits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    allow: Vec<Pattern>,
    deny: Vec<Pattern>,
    read_only: bool,
}

impl Policy {
    /// Makes a policy.
    ///
    /// # Errors
    /// There are too many patterns.
    pub fn new(allow: Vec<Pattern>, deny: Vec<Pattern>, read_only: bool) -> Result<Self, BadPattern> {
        if allow.len().saturating_add(deny.len()) > PATTERNS {
            return Err(BadPattern::Many);
        }
        Ok(Self { allow, deny, read_only })
    }

    /// Whether tools must say that they only read.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether names decide on anything.
    pub fn has_patterns(&self) -> bool {
        !self.allow.is_empty() || !self.deny.is_empty()
    }

    /// Returns the patterns of `--allow` that fit none of these names.
    pub(super) fn admit_none_of(&self, names: &[&String]) -> Vec<&Pattern> {
        let fits = |pattern: &&Pattern| names.iter().any(|name| pattern.matches(name));
        self.allow.iter().filter(|pattern| !fits(pattern)).collect()
    }

    /// Whether the patterns admit a tool of this name, escapes undone. `--deny` wins.
    pub fn admits(&self, tool: &str) -> bool {
        if tool.len() > NAME_BYTES {
            return !self.has_patterns();
        }
        let denied = self.deny.iter().any(|pattern| pattern.matches(tool));
        let allowed = self.allow.is_empty() || self.allow.iter().any(|pattern| pattern.matches(tool));
        allowed && !denied
    }
}
