//! A tool's annotations.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// MCP's annotations of a tool. A hint that is not stated is not listed, and clients take the specification's default for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Hints {
    /// `title`, for clients that read it here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
    /// Annotations that the specification does not know, as they are listed.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub other: Map<String, Value>,
}

impl Hints {
    /// The four hints by their names here and in the protocol, with the specification's defaults.
    #[must_use]
    pub(crate) fn all(&self) -> [(&'static str, &'static str, Option<bool>, bool); 4] {
        [
            ("read_only", "readOnlyHint", self.read_only, false),
            ("destructive", "destructiveHint", self.destructive, true),
            ("idempotent", "idempotentHint", self.idempotent, false),
            ("open_world", "openWorldHint", self.open_world, true),
        ]
    }

    /// Whether it says that the tool changes nothing.
    #[must_use]
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.unwrap_or(false)
    }

    /// Whether the tool may remove or overwrite.
    #[must_use]
    pub(crate) fn is_destructive(&self) -> bool {
        self.destructive.unwrap_or(true)
    }

    /// Whether the tool reaches beyond the server.
    #[must_use]
    pub(crate) fn is_open_world(&self) -> bool {
        self.open_world.unwrap_or(true)
    }
}
