//! The four runtime modes: what each may do, and which tools it admits (chain#modes).

use std::fmt;

use colibri_runtime::chain::admission::{self, Admission};
use colibri_runtime::spec::{CatalogueSpec, ChainCode, Runs, ToolSpec, fill};
use serde_json::{Map, json};

use super::environment::Environment;
use super::keys;

/// A runtime mode. Chosen by the operator at boot, fixed for the life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All capabilities.
    Full,
    /// Reads the database and never writes it.
    Readonly,
    /// Like [`Mode::Full`], but on a temporary database and without outside traffic.
    Test,
    /// No database: a probe that works even if the file is broken.
    Minimal,
}

impl Mode {
    /// All modes, in the order they are listed.
    pub const ALL: [Self; 4] = [Self::Full, Self::Readonly, Self::Test, Self::Minimal];

    /// Returns the mode's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Readonly => "READONLY",
            Self::Test => "TEST",
            Self::Minimal => "MINIMAL",
        }
    }

    /// Returns the mode with exactly this name; case counts.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The capabilities of a mode (chain#modes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// `canWriteDatabase`.
    pub write_database: bool,
    /// `canAcceptMCPConnections`.
    pub accept_mcp_connections: bool,
    /// `canDispatchExternalIO`; enforced where requests leave the process, not by the tool gate.
    pub dispatch_external_io: bool,
    /// `canRunIntegrationTests`.
    pub run_integration_tests: bool,
}

/// Returns the capabilities of a mode.
pub const fn capabilities_for(mode: Mode) -> Capabilities {
    Capabilities {
        write_database: matches!(mode, Mode::Full | Mode::Test),
        accept_mcp_connections: true,
        dispatch_external_io: matches!(mode, Mode::Full),
        run_integration_tests: matches!(mode, Mode::Test),
    }
}

/// Why a mode does not admit a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    /// The capability the mode lacks, by its published name.
    pub required_capability: Option<&'static str>,
    /// `minimal_mode` or `readonly_mode`.
    pub reason: &'static str,
}

/// Checks whether the mode admits the tool (chain#admission).
///
/// # Errors
/// The reason for the denial.
pub const fn is_admitted(mode: Mode, tool: &ToolSpec) -> Result<(), Denial> {
    if matches!(mode, Mode::Minimal) && matches!(tool.runs, Runs::Network { .. }) {
        return Err(Denial { required_capability: Some("canDispatchExternalIO"), reason: "minimal_mode" });
    }
    if matches!(mode, Mode::Minimal) && !tool.is_free() {
        return Err(Denial { required_capability: None, reason: "minimal_mode" });
    }
    if tool.mutates() && !capabilities_for(mode).write_database {
        return Err(Denial { required_capability: Some("canWriteDatabase"), reason: "readonly_mode" });
    }
    Ok(())
}

/// Returns whether `tools/list` shows the tool in that mode: it does unless no call of it could succeed (chain#modes).
pub(crate) const fn is_listed(mode: Mode, tool: &ToolSpec) -> bool {
    let reaches = !matches!(tool.runs, Runs::Network { .. }) || capabilities_for(mode).dispatch_external_io;
    reaches && is_admitted(mode, tool).is_ok()
}

/// Stage 1's check of a server that runs in one mode (chain#admission).
#[derive(Debug)]
pub struct ModeGate {
    mode: Mode,
    denied: ChainCode,
}

impl ModeGate {
    /// Makes the check for a mode; the words of its denials are the catalogue's.
    pub const fn new(mode: Mode, catalogue: &CatalogueSpec) -> Self {
        Self { mode, denied: catalogue.codes.not_admitted }
    }
}

impl Admission for ModeGate {
    fn admit(&self, tool: &ToolSpec) -> Result<(), admission::Denial> {
        is_admitted(self.mode, tool).map_err(|denial| {
            let mut details = Map::new();
            details.insert("tool".to_owned(), json!(tool.name));
            details.insert("mode".to_owned(), json!(self.mode.as_str()));
            details.insert("required_capability".to_owned(), json!(denial.required_capability));
            details.insert("reason".to_owned(), json!(denial.reason));
            details.insert("remedy".to_owned(), json!(self.denied.remedy));
            let obstacle = match (denial.required_capability, tool.runs) {
                (_, Runs::Network { .. }) => "asks other machines",
                (Some(_), _) => "writes",
                (None, _) => "needs a database",
            };
            let mode = self.mode.as_str();
            let texts = [("tool", tool.name), ("obstacle", obstacle), ("mode", mode)];
            admission::Denial { code: self.denied.code, message: fill(self.denied.message, &texts), details }
        })
    }

    fn lists(&self, tool: &ToolSpec) -> bool {
        is_listed(self.mode, tool)
    }
}

/// Returns the mode that the environment names (chain#modes). An invalid name is an error; the server never falls
/// back silently.
///
/// # Errors
/// The text (chain#modes) for a legacy variable or an unknown mode.
pub fn detect_mode(env: &Environment) -> Result<Mode, String> {
    if env.get_os("AMS_MODE").is_some() {
        return Err("Colibri does not support the legacy AMS_MODE variable. \
                    Rename to COLIBRI_MODE or unset."
            .to_owned());
    }
    let Some(value) = env.get_os(keys::MODE.name) else {
        return Ok(Mode::Full);
    };
    let value = value.to_string_lossy();
    Mode::parse(&value).ok_or_else(|| {
        let names = Mode::ALL.map(Mode::as_str).join(", ");
        let form = if Mode::parse(&value.to_uppercase()).is_some() { ", in capitals" } else { "" };
        format!("Invalid {}: \"{value}\". Expected one of {names}{form}.", keys::MODE.name)
    })
}
