//! Profiles: one table of what differs between them. Findings that bear on security are in none of its rows.

use std::fmt;

use serde::Deserialize;

use crate::finding::{Finding, Nature, Severity};

/// How strict the gate is where a rule is not set by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// What may break a client, or be noticed by one, fails.
    Strict,
    /// For most servers.
    #[default]
    Default,
    /// What only programs with generated types or caches notice is listed.
    Lenient,
}

impl Profile {
    /// All of them, the strictest first.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Default, Self::Lenient];

    /// Returns whether the wording changes of the descriptions in a tool's schema are one finding.
    #[must_use]
    pub const fn groups_wording(self) -> bool {
        !matches!(self, Self::Strict)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strict => "strict",
            Self::Default => "default",
            Self::Lenient => "lenient",
        })
    }
}

/// Rules that profiles judge apart.
#[derive(Debug)]
pub struct Row {
    /// Their ids.
    pub rules: &'static [&'static str],
    /// Which of their findings; all of them without it.
    pub nature: Option<Nature>,
    /// The findings in words.
    pub what: &'static str,
    /// The severity under each profile, in the order of [`Profile::ALL`].
    pub severities: [Severity; 3],
    /// Why profiles differ.
    pub why: &'static str,
}

impl Row {
    /// Returns the severity under a profile.
    #[must_use]
    pub const fn severity(&self, profile: Profile) -> Severity {
        let [strict, default, lenient] = self.severities;
        match profile {
            Profile::Strict => strict,
            Profile::Default => default,
            Profile::Lenient => lenient,
        }
    }
}

/// What differs between profiles.
pub const ROWS: &[Row] = &[
    Row {
        rules: &["I18"],
        nature: None,
        what: "optional property made required, with the default that it had",
        severities: [Severity::Break, Severity::Ack, Severity::Ack],
        why: "some servers fill in defaults before they validate; others refuse the old calls, so no profile lists it only",
    },
    Row {
        rules: &["I3"],
        nature: Some(Nature::OpenByDefault),
        what: "optional property added to an object whose schema does not say whether it is open",
        severities: [Severity::Ack, Severity::Info, Severity::Info],
        why: "schema libraries leave objects open unless they are told otherwise, and few calls carry properties that no schema names",
    },
    Row {
        rules: &["T4"],
        nature: None,
        what: "order of tools or properties changed",
        severities: [Severity::Ack, Severity::Ack, Severity::Info],
        why: "another order costs prompt caches, and breaks no call",
    },
    Row {
        rules: &["I10"],
        nature: None,
        what: "format of an input added or changed",
        severities: [Severity::Ack, Severity::Ack, Severity::Info],
        why: "the current drafts of JSON Schema take a format as a note, unless a validator is told to assert it",
    },
    Row {
        rules: &["O2", "O3", "O6", "O8", "O9"],
        nature: None,
        what: "results hold other optional properties, values or texts than the old schema said",
        severities: [Severity::Ack, Severity::Ack, Severity::Info],
        why: "most readers of results are models, which read what is there; only generated types and exhaustive matches fail",
    },
    Row {
        rules: &["C2", "C4", "R3"],
        nature: None,
        what: "name of the server, lifetime of its list, or media type of a resource changed",
        severities: [Severity::Ack, Severity::Ack, Severity::Info],
        why: "registries and caches notice, and no call fails",
    },
    Row {
        rules: &["C9"],
        nature: None,
        what: "version not bumped for a break",
        severities: [Severity::Break, Severity::Break, Severity::Info],
        why: "many servers number releases by date, and then no step of the version says that it breaks",
    },
];

/// The row that a finding belongs to. One that bears on security belongs to none: only its rule's name lowers it.
pub(super) fn row(finding: &Finding) -> Option<&'static Row> {
    let fits = |row: &&Row| {
        row.rules.contains(&finding.rule) && row.nature.is_none_or(|nature| nature == finding.nature)
    };
    ROWS.iter().filter(|_| !finding.security).find(fits)
}
