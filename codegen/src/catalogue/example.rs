//! A tool's examples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Varying;

/// A call with its reply.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// What it shows.
    pub title: String,
    /// Calls that set the stage.
    #[serde(default)]
    pub before: Vec<Setup>,
    /// The arguments, as documented.
    pub arguments: Value,
    /// Arguments that the test takes from an earlier call: pointer into `arguments` → name kept there.
    #[serde(default)]
    pub bind: BTreeMap<String, String>,
    /// The envelope of the reply, as documented.
    pub reply: Value,
    /// Pointers into `reply` whose values differ from run to run, each with what every run's value is like.
    #[serde(default)]
    pub varies: BTreeMap<String, Varying>,
}

/// A call made before an example.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Arguments taken from an earlier call: pointer → name.
    #[serde(default)]
    pub bind: BTreeMap<String, String>,
    /// What to keep of the reply's envelope: name → pointer.
    #[serde(default)]
    pub keep: BTreeMap<String, String>,
}
