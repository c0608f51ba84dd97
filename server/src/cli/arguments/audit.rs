//! The arguments of the commands for auditors.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::super::moments::parse_for_log;
use colibri_store::log::log_query::{LogFilter, OUTCOMES};

/// The database that a command reads.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Database {
    /// The database to read, a file or a URL; by default the configured one
    #[arg(long, value_name = "FILE|URL")]
    pub db: Option<PathBuf>,
}

/// Reads the number of a caller.
fn caller_no(text: &str) -> Result<i64, String> {
    let number = text.parse().ok().filter(|number| *number >= 1);
    number.ok_or_else(|| "a caller has a number from 1, which `colibri log --json` shows as caller_no; --client takes a name".to_owned())
}

/// Of `colibri log`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Log {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only calls to this server, which colibri wrap passed on
    #[arg(long, value_name = "NAME", conflicts_with = "tool")]
    pub server: Option<String>,
    /// Only calls with this outcome
    #[arg(long, value_parser = PossibleValuesParser::new(OUTCOMES))]
    pub outcome: Option<String>,
    /// Only calls that created or changed this row, a task, a thought or a session: its id, or at least 4 characters of it
    #[arg(long, value_name = "ID")]
    pub subject: Option<String>,
    /// Only calls of one server process, by its boot id (see --json)
    #[arg(long, value_name = "ID")]
    pub boot: Option<String>,
    /// Only calls on behalf of this person or agent, as COLIBRI_ACTOR says
    #[arg(long, value_name = "TEXT")]
    pub actor: Option<String>,
    /// Only calls of the client with this name or title
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
    /// Only calls of the caller with this number; --json shows it
    #[arg(long, value_name = "N", value_parser = caller_no)]
    pub caller: Option<i64>,
    /// Only calls at this time or later, in UTC: 2h, today, yesterday 14:00, 2026-05-01T10:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_for_log)]
    pub since: Option<String>,
    /// Only calls before this time
    #[arg(long, value_name = "TIME", value_parser = parse_for_log)]
    pub until: Option<String>,
    /// Only the newest N calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Print the rows as JSON Lines, every column and the caller
    #[arg(long)]
    pub json: bool,
}

impl Log {
    /// What is asked of the store.
    pub fn filter(&self) -> LogFilter {
        LogFilter {
            tool: self.tool.clone(),
            // '0' is the character behind '/'.
            tools: self.server.as_ref().map(|name| (format!("{name}/"), format!("{name}0"))),
            outcome: self.outcome.clone(),
            subject: self.subject.clone(),
            boot_id: self.boot.clone(),
            actor: self.actor.clone(),
            client: self.client.clone(),
            caller: self.caller,
            since: self.since.clone(),
            until: self.until.clone(),
            from: None,
            limit: self.limit,
        }
    }
}

/// Of `colibri keys`.
#[derive(Debug, Subcommand, PartialEq, Eq)]
pub enum Keys {
    /// Make a new signing key in a new file; an existing file is never overwritten
    Generate(KeyFile),
    /// Show the public key and key id of a file made by `keys generate`; never the seed
    Show(KeyFile),
}

/// A file with a signing key.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct KeyFile {
    /// The file with the seed: 64 hex characters, readable by its owner only
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Of `colibri proof`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Proof {
    /// The sealed session: its id, or at least 4 characters of it
    #[arg(allow_hyphen_values = true)]
    pub session: String,
    /// One of its thought records: its id, or at least 4 characters of it
    #[arg(allow_hyphen_values = true)]
    pub record: String,
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Write the proof to this new file; by default to stdout
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// With --out: print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

/// Of `colibri export`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Export {
    /// The session, open or sealed: its id, or at least 4 characters of it
    #[arg(allow_hyphen_values = true)]
    pub session: String,
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Write the export to this new file; by default to stdout
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// With --out: print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

/// Of `colibri report`.
#[derive(Debug, Args, PartialEq, Eq)]
#[command(
    after_help = "The whole database is verified as `colibri verify` does it, at the same moment, and the exit codes are the same."
)]
pub struct Report {
    /// The session, open or sealed: its id, or at least 4 characters of it
    #[arg(allow_hyphen_values = true)]
    pub session: String,
    /// The new file to write the page to
    #[arg(long, value_name = "FILE")]
    pub html: PathBuf,
    /// A public key that you trust, as for `colibri verify`; may be repeated
    #[arg(long = "key", value_name = "FILE|HEX")]
    pub keys: Vec<String>,
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}
