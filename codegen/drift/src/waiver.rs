//! Waivers: findings that a person has looked at and accepted.

use serde::{Deserialize, Serialize};

/// One accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
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

/// Reads the waivers of a YAML file: those below `drift:` and `waivers:`. Other members are ignored, so that a catalogue's
/// head of any version serves. `None` if the text is not such a file.
#[cfg(feature = "cli")]
#[must_use]
pub fn waivers(text: &str) -> Option<Vec<Waiver>> {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Drift {
        #[serde(default)]
        waivers: Vec<Waiver>,
    }
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        drift: Drift,
    }
    serde_yaml::from_str::<Head>(text).ok().map(|head| head.drift.waivers)
}
