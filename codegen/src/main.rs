//! The command `colibri-codegen`: lint a catalogue, and write or check what is generated from it
//! outside of builds.
//!
//! Results go to stdout, findings and messages to stderr. Exit codes: 0 done or sound, 1 findings or
//! a stale file, 2 a bad command line or input that cannot be read.

mod create_command;
mod drift_command;
mod package;
mod test_command;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use colibri_codegen::catalogue::{Catalogue, Finding, findings, schema};
use colibri_codegen::{Written, check, lock, mock, reference, with_tool_table, write_or_check};
use colibri_visible::printable_lines;
use serde_json::json;

/// Lint a tool catalogue, and write or check what is generated from it.
#[derive(Parser)]
#[command(
    name = "colibri-codegen",
    version,
    after_help = "Exit codes: 0 done or sound, 1 findings or a stale file, 2 bad command line or unreadable input.\n\nExample:\n  colibri-codegen lint catalogue"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Report every problem of a catalogue.
    #[command(after_help = "Examples:\n  colibri-codegen lint\n  colibri-codegen lint catalogue --json")]
    Lint {
        #[command(flatten)]
        input: Input,
        /// Print findings as JSON to stdout.
        #[arg(long)]
        json: bool,
    },
    /// Write the reference pages, or check that they are current.
    #[command(after_help = "Example:\n  colibri-codegen reference catalogue --out docs/reference --check")]
    Reference {
        #[command(flatten)]
        input: Input,
        /// The folder of the pages.
        #[arg(long, default_value = "docs/reference")]
        out: PathBuf,
        /// A page beside the pages' folder whose table of tools, between `<!-- begin tools -->` and
        /// `<!-- end tools -->`, is kept current too.
        #[arg(long, value_name = "FILE")]
        readme: Option<PathBuf>,
        /// Write nothing; fail if a page differs.
        #[arg(long)]
        check: bool,
    },
    /// Write the catalogue's lock file, or check that it is current.
    #[command(after_help = "Example:\n  colibri-codegen lock catalogue --check")]
    Lock {
        #[command(flatten)]
        input: Input,
        /// Write nothing; fail if the file differs.
        #[arg(long)]
        check: bool,
    },
    /// Write a catalogue from what a server lists.
    Init(create_command::Init),
    /// Make a project of a server with one tool.
    New(create_command::New),
    /// Report what changed in the catalogue and which clients break; fail if one does.
    Drift(drift_command::Arguments),
    /// Run the catalogue's examples against a command that speaks MCP; fail if a reply differs.
    Test(test_command::Arguments),
    /// Serve MCP over stdin and stdout, and answer from the catalogue's examples.
    #[command(after_help = "Example:\n  claude mcp add notes -- colibri-codegen mock \"$PWD/catalogue\"")]
    Mock {
        #[command(flatten)]
        input: Input,
    },
    /// Write the files of every package of a server: npm, wheel, Debian, desktop bundle, Homebrew, container, MCP registry.
    Package(package::Arguments),
    /// Print the JSON Schema of the catalogue's files, write it, or check that a file is current.
    #[command(
        after_help = "Examples:\n  colibri-codegen schema --out catalogue/catalogue.schema.json\n  colibri-codegen schema --check catalogue/catalogue.schema.json"
    )]
    Schema {
        /// Fail if this file differs.
        #[arg(long, value_name = "FILE", conflicts_with = "out")]
        check: Option<PathBuf>,
        /// Write to this file instead of stdout.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Input {
    /// The catalogue's folder.
    #[arg(default_value = "catalogue", value_name = "DIR")]
    folder: PathBuf,
}

/// Why a command failed.
enum Failure {
    /// What is wrong with the catalogue: exit code 1.
    Findings(Vec<Finding>),
    /// Generated files that differ: exit code 1.
    Stale(Vec<PathBuf>),
    /// Changes that break clients, or replies that differ, already reported: exit code 1.
    Reported,
    /// Input that cannot be read, output that cannot be written: exit code 2.
    Unusable(String),
    /// Ctrl-C: exit code 130.
    Interrupted(String),
}

impl From<colibri_drift::command::Failure> for Failure {
    fn from(failure: colibri_drift::command::Failure) -> Self {
        use colibri_drift::command::Failure as Drift;
        match failure {
            Drift::Unusable(message) => Self::Unusable(message),
            Drift::Interrupted(message) => Self::Interrupted(message),
        }
    }
}

impl From<Vec<Finding>> for Failure {
    fn from(findings: Vec<Finding>) -> Self {
        Self::Findings(findings)
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    let outcome = match cli.command {
        Command::Lint { input, json } => run_lint(&input.folder, json),
        Command::Reference { input, out, readme, check } => {
            run_reference(&input.folder, &out, readme.as_deref(), check)
        }
        Command::Lock { input, check } => run_lock(&input.folder, check),
        Command::Init(arguments) => create_command::init(&arguments),
        Command::New(arguments) => create_command::new(&arguments),
        Command::Drift(arguments) => drift_command::run(&arguments),
        Command::Test(arguments) => test_command::run(&arguments),
        Command::Mock { input } => match load(&input.folder).and_then(|catalogue| Ok(mock(&catalogue)?)) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
        Command::Package(arguments) => package::run(&arguments),
        Command::Schema { check, out } => run_schema(check.as_deref(), out.as_deref()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Findings(found)) => {
            let count = found.len();
            say(&format!("{}{count} finding{}", findings::render(&found), if count == 1 { "" } else { "s" }));
            ExitCode::from(1)
        }
        Err(Failure::Stale(files)) => {
            for file in files {
                say(&format!("{} is not current: run the same command without --check", file.display()));
            }
            ExitCode::from(1)
        }
        Err(Failure::Reported) => ExitCode::from(1),
        Err(Failure::Unusable(message)) => {
            say(&format!("error: {message}"));
            ExitCode::from(2)
        }
        Err(Failure::Interrupted(message)) => {
            say(&message);
            ExitCode::from(130)
        }
    }
}

/// Prints help, or what is wrong with the command line, which may repeat any argument.
fn refused(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        say(text.trim_end());
        return ExitCode::from(2);
    }
    match print(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

fn run_lint(folder: &Path, as_json: bool) -> Result<(), Failure> {
    let found = match load(folder) {
        Ok(catalogue) => check(&catalogue),
        Err(Failure::Findings(found)) => found,
        Err(other) => return Err(other),
    };
    if as_json {
        let list: Vec<_> = found.iter().map(finding_json).collect();
        print(&colibri_visible::json(&format!("{}\n", json!({ "findings": list }))))?;
    }
    if found.is_empty() { Ok(()) } else { Err(Failure::Findings(found)) }
}

fn finding_json(finding: &Finding) -> serde_json::Value {
    json!({
        "rule": finding.rule,
        "file": finding.at.path.to_string_lossy(),
        "line": finding.at.line,
        "column": finding.at.column,
        "message": finding.message,
        "help": finding.help,
    })
}

fn run_reference(folder: &Path, out: &Path, readme: Option<&Path>, check: bool) -> Result<(), Failure> {
    let catalogue = load(folder)?;
    let pages = reference(&catalogue)?;
    let mut pages: Vec<_> = pages.into_iter().map(|(path, text)| (out.join(path), text)).collect();
    if let Some(path) = readme {
        let unusable = |reason: String| Failure::Unusable(format!("{}: {reason}", path.display()));
        let page = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let text = with_tool_table(&catalogue, &page, &format!("{}/", out.display()))?.ok_or_else(|| {
            unusable("has no `<!-- begin tools -->` and `<!-- end tools -->` lines; add them".to_owned())
        })?;
        pages.push((path.to_path_buf(), text));
    }
    store(pages, check)
}

fn run_lock(folder: &Path, check: bool) -> Result<(), Failure> {
    let text = lock(&load(folder)?)?;
    store(vec![(folder.join("catalogue.lock.json"), text)], check)
}

fn run_schema(check: Option<&Path>, out: Option<&Path>) -> Result<(), Failure> {
    match (check, out) {
        (Some(file), _) => store(vec![(file.to_path_buf(), schema::text())], true),
        (None, Some(file)) => store(vec![(file.to_path_buf(), schema::text())], false),
        (None, None) => print(&schema::text()),
    }
}

fn load(folder: &Path) -> Result<Catalogue, Failure> {
    if !folder.is_dir() {
        let message =
            format!("there is no folder `{}`; name the folder that holds catalogue.yaml", folder.display());
        return Err(Failure::Unusable(message));
    }
    Ok(Catalogue::load(folder)?)
}

/// Writes or checks files, and reports the result for each.
fn store(files: Vec<(PathBuf, String)>, check: bool) -> Result<(), Failure> {
    let mut stale = Vec::new();
    for (path, text) in files {
        let written = write_or_check(&path, &text, check)
            .map_err(|error| Failure::Unusable(format!("{}: {error}", path.display())))?;
        match written {
            Written::Current => print(&format!("current  {}\n", path.display()))?,
            Written::Updated => print(&format!("written  {}\n", path.display()))?,
            Written::Stale => stale.push(path),
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(Failure::Stale(stale)) }
}

/// Writes to stdout and escapes terminal control characters. A reader that has closed the pipe does not count as a
/// failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(printable_lines(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Unusable(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr. If that takes nothing, the line is lost.
fn say(text: &str) {
    colibri_stderr::say("colibri-codegen", &printable_lines(text));
}
