//! How final a round is.

/// The levels of a round, in their order; a round climbs them one at a time and never goes down (consensus#finality).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FinalityLevel {
    /// No member has voted.
    Pending,
    /// Some member has voted.
    Soft,
    /// A quorum has accepted one tuple.
    Quorum,
    /// A quorum has accepted it in two adjacent epochs: external effects are allowed.
    Hard,
    /// The dispute window is over: nothing can be disputed any more.
    Absolute,
}

impl FinalityLevel {
    /// All levels, from the lowest.
    pub const ORDER: [Self; 5] = [Self::Pending, Self::Soft, Self::Quorum, Self::Hard, Self::Absolute];

    /// Returns the name in messages, rows and replies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Soft => "SOFT",
            Self::Quorum => "QUORUM",
            Self::Hard => "HARD",
            Self::Absolute => "ABSOLUTE",
        }
    }

    /// Returns the level that a name stands for.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ORDER.into_iter().find(|level| level.as_str() == name)
    }

    /// Returns the only level that may follow; `None` after the last.
    pub fn next(self) -> Option<Self> {
        Self::ORDER.into_iter().find(|&level| level > self)
    }
}

impl std::fmt::Display for FinalityLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
