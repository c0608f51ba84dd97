//! A two-tool MCP server that keeps its notes in memory: nothing but a catalogue, a build script and
//! a trait's implementation.

mod notes;

use std::process::ExitCode;

use colibri_runtime::serve_stdio;

/// The catalogue, compiled.
pub mod catalogue {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use catalogue::{CATALOGUE, Dispatcher};
use notes::Server;

fn main() -> ExitCode {
    serve_stdio(&CATALOGUE, Dispatcher(Server))
}
