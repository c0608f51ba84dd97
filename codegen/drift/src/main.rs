//! The command `mcp-drift`: what changed between two states of an MCP server, and which clients break.
//!
//! Reports go to stdout, messages to stderr. Exit codes: 0 no client breaks, 1 findings that block, 2 a bad command line
//! or input that cannot be read, 130 after Ctrl-C.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use colibri_drift::command::{Answer, Failure, check, compare, lint, rules, snapshot};
use colibri_visible::printable_lines;

/// Capture what an MCP server tells its clients, compare two states of it, and report which clients break.
#[derive(Parser)]
#[command(
    name = "mcp-drift",
    version,
    after_help = "Examples:
  mcp-drift snapshot -o mcp.snapshot.json -- node dist/index.js
  mcp-drift check --against mcp.snapshot.json -- node dist/index.js
  mcp-drift compare old.json new.json --format markdown
  mcp-drift lint -- node dist/index.js

Exit codes: 0 no client breaks, 1 findings that block, 2 bad command line or unreadable input, 130 interrupted."
)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Ask a server for all that it tells its clients, and write a snapshot.
    Snapshot(snapshot::Arguments),
    /// Ask a server, and compare its answers with a snapshot.
    Check(check::Arguments),
    /// Compare two states in files.
    Compare(compare::Arguments),
    /// Report what hosts and model providers are known to refuse.
    Lint(lint::Arguments),
    /// List the rules of comparisons, and what `lint` looks for.
    Rules(rules::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Cli::try_parse() {
        Ok(cli) => run(&cli.task),
        Err(error) if error.use_stderr() => {
            Err(Failure::Unusable(error.render().to_string().trim_end().to_owned()))
        }
        Err(help) => print(&help.render().to_string()).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Failure::Interrupted(message)) => {
            say(&message);
            ExitCode::from(130)
        }
        Err(Failure::Unusable(message)) => {
            say(&if message.starts_with("error: ") { message } else { format!("error: {message}") });
            ExitCode::from(2)
        }
    }
}

/// Runs a subcommand, prints its answer, and returns whether nothing blocks.
fn run(task: &Task) -> Result<bool, Failure> {
    let Answer { text, notes, passes } = match task {
        Task::Snapshot(arguments) => snapshot::run(arguments),
        Task::Check(arguments) => check::run(arguments),
        Task::Compare(arguments) => compare::run(arguments),
        Task::Lint(arguments) => lint::run(arguments),
        Task::Rules(arguments) => Ok(rules::run(arguments)),
    }?;
    print(&text)?;
    notes.iter().for_each(|note| say(note));
    Ok(passes)
}

/// Writes to stderr. If that takes nothing, only the exit code can tell.
fn say(message: &str) {
    colibri_stderr::say("mcp-drift", &printable_lines(message));
}

/// Writes to stdout and escapes terminal control characters. A reader that has closed the pipe does not count as a failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(printable_lines(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Unusable(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
