//! The command `mcp-drift`: what changed between two states of an MCP server's tools, and which clients break.
//!
//! The report goes to stdout, messages to stderr. Exit codes: 0 no client breaks, 1 findings that block, 2 a bad command line
//! or input that cannot be read.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use colibri_drift::Snapshot;
use colibri_drift::command::{Files, Form};
use colibri_visible::printable_lines;

/// Compare two states of an MCP server's tools, and report which clients break.
///
/// A state is a JSON file: the server's answer to `tools/list`, alone, inside its JSON-RPC response, or in an array with
/// other pages and the answer to `initialize`; or the lock of a Colibri catalogue. Both files are of the same kind.
#[derive(Parser)]
#[command(
    name = "mcp-drift",
    version,
    after_help = "Examples:
  mcp-drift old.json new.json
  mcp-drift old.json new.json --config accepted.yaml --format markdown
  mcp-drift old.lock.json new.lock.json --format json

Exit codes: 0 no client breaks, 1 findings that block, 2 bad command line or unreadable input."
)]
struct Cli {
    /// The old state.
    old: PathBuf,
    /// The new state.
    new: PathBuf,
    /// A YAML file with `drift: waivers:`; the report prints the lines to put there.
    #[arg(long, value_name = "FILE")]
    waivers: Option<PathBuf>,
    /// A file with settings and waivers; mcp-drift.yaml of this folder is read by itself.
    #[arg(long, value_name = "FILE", conflicts_with = "waivers")]
    config: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Ok(cli) => run(&cli),
        Err(error) if error.use_stderr() => Err(error.render().to_string().trim_end().to_owned()),
        Err(help) => print(&help.render().to_string()).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            let message = if message.starts_with("error: ") { message } else { format!("error: {message}") };
            // If stderr is closed, only the exit code can tell.
            let _ = writeln!(io::stderr().lock(), "{}", printable_lines(&message));
            ExitCode::from(2)
        }
    }
}

/// Compares, prints the report, and returns whether every client still works.
fn run(cli: &Cli) -> Result<bool, String> {
    let (old, new) = (cli.old.as_path(), cli.new.as_path());
    let task = Files { old, new, waivers: cli.waivers.as_deref(), config: cli.config.as_deref() }
        .read(&Snapshot::parse)?;
    if task.old.is_lock() != task.new.is_lock() {
        let (lock, answer) = if task.old.is_lock() { (old, new) } else { (new, old) };
        return Err(format!(
            "{} is a lock and {} is not; give two locks, or two answers to `tools/list`",
            lock.display(),
            answer.display()
        ));
    }
    let verdict = task.judge();
    print(&cli.form.report(&verdict, &task.names, &|_| None))?;
    Ok(verdict.passes())
}

/// Writes to stdout and escapes terminal control characters. A reader that has closed the pipe does not count as a failure.
fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(printable_lines(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to stdout: {error}"))
        }
        _ => Ok(()),
    }
}
