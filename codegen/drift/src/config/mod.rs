//! What a team decides: which severity a rule has, what fails, and which findings are accepted.
//!
//! It is the file `mcp-drift.yaml`, or the member `drift:` of a catalogue.

pub mod profiles;
#[cfg(feature = "cli")]
mod read;
mod schema;

use std::collections::BTreeMap;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::finding::{Finding, REFERENCE, Severity};
use crate::rules::{RULES, rule};
use crate::waiver::Waiver;
pub use profiles::Profile;
#[cfg(feature = "cli")]
pub use read::{Unusable, today};
pub use schema::schema;

/// What a team decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "keys such as `fail-on` and `rules`"
)]
pub struct Config {
    /// The least severity that fails.
    pub fail_on: FailOn,
    /// The severities of rules that are not set one by one.
    pub profile: Profile,
    /// Rules that are set one by one.
    pub rules: Rules,
    /// Findings that were looked at and accepted.
    pub waivers: Vec<Waiver>,
    /// The day of the comparison, as `2026-11-26`, for waivers that expire; without it none does.
    #[serde(skip)]
    pub today: Option<String>,
}

/// The least severity that fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// BREAK fails, and ACK where it bears on security.
    Break,
    /// BREAK and ACK fail.
    #[default]
    Ack,
    /// Nothing fails.
    Never,
}

/// What a rule is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    /// Its findings are dropped.
    Off,
    /// They are listed.
    Info,
    /// They need a person.
    Ack,
    /// They break a client.
    Break,
}

impl Setting {
    fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Info => Some(Severity::Info),
            Self::Ack => Some(Severity::Ack),
            Self::Break => Some(Severity::Break),
        }
    }
}

/// Settings of rules, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(BTreeMap<&'static str, Setting>);

impl Rules {
    /// Sets a rule, by id or name.
    ///
    /// # Errors
    /// No rule has that name, or the rule was set before.
    pub fn set(&mut self, named: &str, setting: Setting) -> Result<(), String> {
        let known = rule(named).ok_or_else(|| unknown(named))?;
        match self.0.insert(known.id, setting) {
            None => Ok(()),
            Some(_) => Err(format!("{} ({}) is set twice", known.name, known.id)),
        }
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Rules;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("names of rules, each with off, info, ack or break")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Rules, A::Error> {
                let mut rules = Rules::default();
                while let Some(Named(name)) = members.next_key()? {
                    rules.set(&name, members.next_value()?).map_err(A::Error::custom)?;
                }
                Ok(rules)
            }
        }
        from.deserialize_map(Map)
    }
}

/// The name of a rule, refused where it stands.
struct Named(String);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        if rule(&name).is_none() {
            return Err(D::Error::custom(unknown(&name)));
        }
        Ok(Self(name))
    }
}

/// Says that no rule has a name, and which one is meant.
pub(crate) fn unknown(named: &str) -> String {
    // Names are compared word by word, with the separator that the other names of Colibri have.
    let names: Vec<String> = RULES.iter().map(|rule| rule.name.replace('-', "_")).collect();
    let near = colibri_suggest::closest(&named.replace('-', "_"), names.iter().map(String::as_str));
    let end = match near {
        Some(near) => format!("did you mean `{}`?", near.replace('_', "-")),
        None => format!("{REFERENCE} lists all rules"),
    };
    format!("no rule has the name or id `{named}`; {end}")
}

impl Config {
    /// Gives a finding the severity that the team wants; `None` if its rule is off.
    pub(crate) fn weighed(&self, mut finding: Finding) -> Option<Finding> {
        let known = rule(finding.rule)?;
        if let Some(setting) = self.rules.0.get(known.id) {
            finding.severity = settled(finding.severity, known.severity, setting.severity()?);
        } else if let Some(row) = profiles::row(&finding) {
            finding.severity = settled(finding.severity, known.severity, row.severity(self.profile));
        }
        Some(finding)
    }

    /// Returns whether an open finding fails the gate.
    pub(crate) fn fails(&self, finding: &Finding) -> bool {
        match self.fail_on {
            FailOn::Never => false,
            FailOn::Ack => finding.severity >= Severity::Ack,
            FailOn::Break if finding.security => finding.severity >= Severity::Ack,
            FailOn::Break => finding.severity == Severity::Break,
        }
    }
}

/// The severity of a finding whose rule is set. One that is less severe than its rule usually is, is not raised above what it is.
fn settled(found: Severity, usual: Severity, set: Severity) -> Severity {
    if found >= usual { set } else { found.min(set) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_moves_what_is_as_severe_as_usual_and_only_lowers_the_rest() {
        use Severity::{Ack, Break, Info};
        for (found, usual, set, expected) in [
            (Break, Break, Ack, Ack),
            (Ack, Break, Break, Ack),
            (Info, Break, Ack, Info),
            (Ack, Ack, Break, Break),
            (Ack, Info, Info, Info),
            (Info, Info, Ack, Ack),
        ] {
            assert_eq!(settled(found, usual, set), expected, "{found} {usual} {set}");
        }
    }

    #[test]
    fn the_name_that_is_meant_is_told() {
        assert!(unknown("tool-descripton-changed").contains("did you mean `tool-description-changed`?"));
        assert!(unknown("xyz").contains("lists all rules"));
    }
}
