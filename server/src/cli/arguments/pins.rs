//! The arguments of `colibri pins`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::audit::Database;

/// Of `colibri pins`.
#[derive(Debug, Args, PartialEq, Eq)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Pins {
    /// What to do; by default the pins are listed
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The database to read, a file or a URL; by default the configured one
    #[arg(long, value_name = "FILE|URL")]
    pub db: Option<PathBuf>,
    /// Print the pins as JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be done with a pin.
#[derive(Debug, Subcommand, PartialEq, Eq)]
pub enum Command {
    /// Compare the pin of a server with the newest list that waits; exit 1 if they differ
    Diff(Diff),
    /// Accept a list, so that its tools are the pinned ones; exit 1 if none waits
    Accept(Accept),
}

/// Of `colibri pins diff`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Diff {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// The server's name
    pub name: String,
    /// The hash of another list, or its first 12 digits at least
    #[arg(long, value_name = "HASH")]
    pub list: Option<String>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
}

/// Of `colibri pins accept`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Accept {
    /// The database, a file or a URL; by default the configured one
    #[arg(long, value_name = "FILE|URL")]
    pub db: Option<PathBuf>,
    /// The server's name
    pub name: String,
    /// The hash of the list, or its first 12 digits at least; needed if several lists wait
    #[arg(long, value_name = "HASH")]
    pub list: Option<String>,
}
