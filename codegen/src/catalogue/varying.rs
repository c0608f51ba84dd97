//! Values of an example's reply that differ from run to run: what may stand there instead.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::SchemaValue;

/// What every run's value is like.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Varying {
    /// A UUID of version 7, in lower case.
    UuidV7,
    /// A time in UTC, RFC 3339 with milliseconds.
    Timestamp,
    /// 64 lowercase hex digits.
    Sha256,
    /// A whole number from the first to the second, both included.
    Between(i64, i64),
    /// A text that the pattern matches.
    Matches(String),
}

impl Varying {
    /// The same as a schema.
    pub fn schema(&self) -> SchemaValue {
        let schema = match self {
            Self::UuidV7 => text("^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"),
            Self::Timestamp => text(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"),
            Self::Sha256 => text("^[0-9a-f]{64}$"),
            Self::Between(from, to) => json!({ "type": "integer", "minimum": from, "maximum": to }),
            Self::Matches(pattern) => text(pattern),
        };
        // Each of them is an object.
        schema.as_object().cloned().unwrap_or_default()
    }

    /// The same in words.
    pub fn words(&self) -> String {
        match self {
            Self::UuidV7 => "a UUID of version 7".to_owned(),
            Self::Timestamp => "a time in UTC, with milliseconds".to_owned(),
            Self::Sha256 => "64 hex digits".to_owned(),
            Self::Between(from, to) => format!("{from} to {to}"),
            Self::Matches(pattern) => format!("matches {pattern}"),
        }
    }
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}
