//! What a catalogue says to the drift gate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Settings of the drift gate.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// The least severity that fails.
    #[serde(default, rename = "fail-on", skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<FailOn>,
    /// How strict the gate is where a rule is not set by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<DriftProfile>,
    /// Rules by name or id, each with what its findings are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, RuleSetting>,
    /// Findings that were looked at and accepted.
    #[serde(default)]
    pub waivers: Vec<Waiver>,
}

/// The least severity of a finding that fails the drift gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// BREAK fails, and ACK where it bears on security.
    Break,
    /// BREAK and ACK fail.
    Ack,
    /// Nothing fails.
    Never,
}

/// How strict the drift gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DriftProfile {
    /// What may break a client, or be noticed by one, fails.
    Strict,
    /// For most servers.
    Default,
    /// What only programs with generated types or caches notice is listed.
    Lenient,
}

/// What the findings of a rule of the drift gate are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleSetting {
    /// Dropped.
    Off,
    /// Listed.
    Info,
    /// For a person.
    Ack,
    /// A break.
    Break,
}

/// One accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The rule's id.
    pub rule: String,
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// Why it is accepted.
    pub reason: String,
    /// The version from which it is accepted no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}
