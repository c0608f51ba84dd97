//! What clients are told besides the instructions and the results.

use serde::{Deserialize, Serialize};

/// What a client is told first where a setting of the server has a value.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// The setting's name.
    pub setting: String,
    /// Its value.
    pub value: String,
    /// The text.
    pub instructions: String,
    /// Which of the other instructions hold then.
    #[serde(default)]
    pub teaches: Teaches,
}

/// Which instructions a client is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Teaches {
    /// All.
    #[default]
    All,
    /// The head's, and what the toolsets say of reading.
    Reading,
    /// None.
    Nothing,
}

/// What a reply may say beside its result, outside of what the log hashes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NoticeEntry {
    /// The code, `SCREAMING_SNAKE_CASE`.
    pub code: String,
    /// The form of its message; `{name}` stands for a text of the call's.
    pub message: String,
    /// When it is said, for the reference.
    pub when: String,
}
