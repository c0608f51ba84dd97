//! The `colibri` binary: no arguments serve over stdio, anything else is a command.

use std::ffi::OsString;
use std::process::ExitCode;

use colibri::cli::{self, Next};
use colibri::settings::environment::Environment;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.is_empty() {
        cli::greet();
        return colibri::serve(false);
    }
    match cli::run(&arguments, &Environment::capture()) {
        Next::Serve { after_start } => colibri::serve(after_start),
        Next::Exit(code) => ExitCode::from(code),
    }
}
