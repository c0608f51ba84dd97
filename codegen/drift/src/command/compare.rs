//! `mcp-drift compare`: two files.

use std::path::PathBuf;

use clap::Args;

use super::{Answer, Failure, Files, Form, Settings};
use crate::Snapshot;

/// What to compare, and how to say it.
#[derive(Debug, Args)]
#[command(after_help = "A state is one of:
  a snapshot of `mcp-drift snapshot`
  an answer to tools/list, as the result, the JSON-RPC response, or an array of pages
  an array of tools, or a folder with one file a tool (*.snap, *.json)
  JSON Lines of messages, such as the log of a session
  the lock of a Colibri catalogue; then both are locks

Examples:
  mcp-drift compare old.json new.json
  mcp-drift compare old.json new.json --config accepted.yaml --format markdown
  mcp-drift compare old/__toolsnaps__ new/__toolsnaps__ --format json

Exit codes: 0 no client breaks, 1 findings that block, 2 bad command line or unreadable input.")]
pub struct Arguments {
    /// The old state.
    old: PathBuf,
    /// The new state.
    new: PathBuf,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    form: Form,
}

/// Compares two files and returns the report.
///
/// # Errors
/// A file cannot be read, or they are of different kinds.
pub fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let (old, new) = (arguments.old.as_path(), arguments.new.as_path());
    let task = Files { old, new, settings: &arguments.settings }.read(&Snapshot::parse)?;
    if task.old.is_lock() != task.new.is_lock() {
        let (lock, answer) = if task.old.is_lock() { (old, new) } else { (new, old) };
        let (lock, answer) = (lock.display(), answer.display());
        let message =
            format!("{lock} is a lock and {answer} is not; give two locks, or two answers of servers");
        return Err(Failure::Unusable(message));
    }
    let verdict = task.judge();
    Ok(Answer::new(arguments.form.report(&verdict, &task.names, &|_| None), verdict.passes()))
}
