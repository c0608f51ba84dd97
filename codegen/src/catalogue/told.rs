//! What the server tells clients besides the instructions and the results.

use serde::{Deserialize, Serialize};

/// What the server tells a client first while one of its settings has a value.
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
    /// Which of the other instructions it adds.
    #[serde(default)]
    pub teaches: Teaches,
}

/// Which of the other instructions the server gives.
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
    /// When the server says it, for the reference.
    pub when: String,
}
