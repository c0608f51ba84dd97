//! The arguments of `colibri reputation`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::audit::Database;

/// Of `colibri reputation`.
#[derive(Debug, Subcommand, PartialEq, Eq)]
pub enum Reputation {
    /// Print the present epoch, at which the tools read unless current_epoch says otherwise
    Epoch(Database),
    /// Apply a file of events, one JSON object a line, all of them or none; exit 2 if a line is refused
    Import(Import),
    /// Print the ledger with its events as JSON Lines, oldest first
    Export(Export),
    /// Recompute the ledger and all standings; exit 1 if anything does not match
    Verify(Verify),
}

/// Of `colibri reputation import`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Import {
    /// The file with the events, at most 64 MiB; `-` reads stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Check and count without applying; only the call itself is recorded
    #[arg(long)]
    pub dry_run: bool,
}

/// Of `colibri reputation export`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Export {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Write the lines to this new file; by default to stdout
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Of `colibri reputation verify`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Verify {
    /// Which database.
    #[command(flatten)]
    pub database: Database,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
