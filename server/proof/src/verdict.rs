//! The verdict that commands and views share, and its exit code.

use serde::Serialize;

/// What a reader may conclude from a check of a file or a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No check failed, and what the reader gave confirms the content.
    Holds,
    /// No check failed, but only a key or a root that the reader did not give can confirm the content.
    Unconfirmed,
    /// A check failed.
    Fails,
}

impl Verdict {
    /// Returns the verdict for the sum of the checks, and whether what the reader gave confirms the content.
    pub fn of(sound: bool, confirmed: bool) -> Self {
        match (sound, confirmed) {
            (true, true) => Self::Holds,
            (true, false) => Self::Unconfirmed,
            (false, _) => Self::Fails,
        }
    }

    /// Returns the exit code of a command that ends with this verdict.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Fails => 1,
            Self::Unconfirmed => 3,
        }
    }
}
