//! The `colibri-proof` binary: checks what a Colibri server left, without the server.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use colibri_proof::Verdict;
use colibri_proof::command::output::{ToTheEnd, Visible};
use colibri_proof::command::{CheckFile, Failure, check_proof, verify_export};
use colibri_visible::printable;

/// Checks what a Colibri server left for auditors, without the server.
///
/// Exit codes: 0 it holds, 1 it does not hold, 2 bad command line or input, 3 it holds, but only by a key or root that you
/// did not give.
#[derive(Parser)]
#[command(name = "colibri-proof", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a proof file, as `colibri proof` writes it
    CheckProof(CheckFile),
    /// Verify an export, as `colibri export` writes it
    VerifyExport(CheckFile),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (mut out, mut input) = (io::stdout().lock(), io::stdin().lock());
    let done = run(&arguments.command, &mut out, &mut input);
    let (code, complaint) = match done {
        Ok(()) => (0, None),
        Err(Failure::Finding) => (Verdict::Fails.exit_code(), None),
        Err(Failure::Unconfirmed) => (Verdict::Unconfirmed.exit_code(), None),
        Err(Failure::Usage(text)) => (2, Some(text)),
        Err(Failure::Output(error)) => (1, Some(format!("cannot write the result: {error}"))),
    };
    if let Some(complaint) = complaint {
        colibri_stderr::say("colibri-proof", &format!("colibri-proof: {}", printable(&complaint)));
    }
    ExitCode::from(code)
}

fn run(command: &Command, out: &mut dyn Write, input: &mut dyn Read) -> Result<(), Failure> {
    let out = &mut ToTheEnd(&mut Visible(out));
    match command {
        Command::CheckProof(arguments) => check_proof(arguments, out, input),
        Command::VerifyExport(arguments) => verify_export(arguments, out, input),
    }
}
