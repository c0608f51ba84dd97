//! The `colibri-proof` binary: checks what a Colibri server left, without the server.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use colibri_proof::command::output::{ToTheEnd, Visible};
use colibri_proof::command::{CheckFile, Failure, check_proof, verify_export};
use colibri_visible::printable;

/// Checks what a Colibri server left for auditors, without the server.
///
/// Exit codes: 0 it holds, 1 it does not hold, 2 bad command line or input.
#[derive(Parser)]
#[command(name = "colibri-proof", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a proof file, as `colibri proof` writes it. Exit 1 if it does not hold
    CheckProof(CheckFile),
    /// Verify an export, as `colibri export` writes it. Exit 1 if it is not sound
    VerifyExport(CheckFile),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (mut out, mut input) = (io::stdout().lock(), io::stdin().lock());
    let done = run(&arguments.command, &mut out, &mut input);
    let (code, complaint) = match done {
        Ok(()) => (0, None),
        Err(Failure::Finding) => (1, None),
        Err(Failure::Usage(text)) => (2, Some(text)),
        Err(Failure::Output(error)) => (1, Some(format!("cannot write the result: {error}"))),
    };
    if let Some(complaint) = complaint {
        // A closed stderr changes nothing about the code.
        let _ = writeln!(io::stderr(), "colibri-proof: {}", printable(&complaint));
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
