//! Why a pattern is refused.

use std::fmt;

/// Why a pattern cannot be matched in linear time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// `(?=…)` or `(?!…)`.
    LookAhead,
    /// `(?<=…)` or `(?<!…)`.
    LookBehind,
    /// `\1` or `\k<name>`.
    BackReference,
    /// `(?i:…)`, which engines before ECMAScript 2025 do not know.
    Modifiers,
    /// `\p{…}` of a property that the Unicode tables do not have.
    Property(String),
    /// Its automaton would have too many parts: counts of counts, or a very long pattern.
    TooLarge,
    /// It is not an expression of ECMAScript's Unicode mode; the number of the character that does not fit.
    Syntax(usize),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LookAhead => f.write_str("a look-ahead, `(?=` or `(?!`"),
            Self::LookBehind => f.write_str("a look-behind, `(?<=` or `(?<!`"),
            Self::BackReference => f.write_str("a back reference"),
            Self::Modifiers => f.write_str("flags inside a group, such as `(?i:`"),
            Self::Property(name) => write!(f, "the property `{name}`, which the Unicode tables do not have"),
            Self::TooLarge => f.write_str("too many parts when its counts are written out"),
            Self::Syntax(at) => write!(f, "something else than ECMAScript's Unicode mode at character {at}"),
        }
    }
}

impl std::error::Error for Refusal {}
