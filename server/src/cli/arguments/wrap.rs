//! The arguments of `colibri wrap`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::wrap::name::Name;
use crate::wrap::policy::Pattern;
use crate::wrap::watch::PinMode;

/// What is said where the server's command is missing, or stands where options do.
pub const NAME_THE_COMMAND: &str =
    "name the server's command behind --, for instance: colibri wrap --name git -- uvx mcp-server-git";

/// What `wrap` is asked for.
///
/// Write it in a host's configuration in front of the server's own command. What the host and the server say to each other passes
/// unchanged; each call of a tool gets a row in the audit log before the server sees it, and another half before the host sees the
/// reply. The first list of tools is pinned: a tool that changes later is told, or withheld with --pin refuse.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Wrap {
    /// The server's name in the log and for its pins; by default derived from COMMAND
    #[arg(long, value_parser = name)]
    pub name: Option<Name>,
    /// The database, a file or a URL; by default the configured one
    #[arg(long, value_name = "FILE|URL")]
    pub db: Option<PathBuf>,
    /// What happens when tools are not the pinned ones: tell it, withhold them, or do not compare
    #[arg(long, value_name = "warn|refuse|off", default_value = "warn", value_parser = mode)]
    pub pin: PinMode,
    /// Admit only tools that say that they only read, when they were pinned and now
    #[arg(long)]
    pub read_only: bool,
    /// Admit only tools whose name fits: * stands for any characters, ? for one; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub allow: Vec<Pattern>,
    /// Do not admit tools whose name fits; wins over --allow; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub deny: Vec<Pattern>,
    /// Let the server see this variable, too; it sees all but those that begin with COLIBRI_. May be repeated
    #[arg(long, value_name = "NAME")]
    pub keep_env: Vec<String>,
    /// List the server's tools, say what would be pinned or what differs, and end; nothing is recorded
    #[arg(long)]
    pub check: bool,
    /// Print what --check finds as JSON
    #[arg(long, requires = "check")]
    pub json: bool,
    /// The server's command with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

fn name(text: &str) -> Result<Name, String> {
    text.parse().map_err(|error: crate::wrap::name::BadName| error.to_string())
}

fn mode(text: &str) -> Result<PinMode, String> {
    text.parse().map_err(str::to_owned)
}

fn pattern(text: &str) -> Result<Pattern, String> {
    text.parse().map_err(|error: crate::wrap::policy::BadPattern| error.to_string())
}
