//! The five domains of standing (reputation#domains): a closed set; no score moves from one to another. Pure.

use std::cmp::Ordering;
use std::fmt;

/// The subject of a standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Completing tasks well.
    Execution,
    /// Writing and scoping tasks that others complete.
    Commissioning,
    /// Accuracy of votes and rulings.
    Arbitration,
    /// Quality of proposals and of votes on rules.
    Governance,
    /// Endorsements, vouching, collaboration.
    Social,
}

/// The five, in canonical order. Lists of rows are in the order of names instead, see [`Domain::cmp`].
pub const DOMAINS: [Domain; 5] =
    [Domain::Execution, Domain::Commissioning, Domain::Arbitration, Domain::Governance, Domain::Social];

impl Domain {
    /// Returns the domain as stored, hashed and published.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Commissioning => "commissioning",
            Self::Arbitration => "arbitration",
            Self::Governance => "governance",
            Self::Social => "social",
        }
    }

    /// Returns the domain with exactly this name; `None` for any other text, including other cases.
    pub fn parse(text: &str) -> Option<Self> {
        DOMAINS.into_iter().find(|domain| domain.as_str() == text)
    }
}

/// By name, as the tables and tools list domains: arbitration, commissioning, execution, governance, social.
impl Ord for Domain {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Domain {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
