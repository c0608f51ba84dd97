//! A two-tool MCP server that keeps its notes in memory: nothing but a catalogue, a build script and
//! a trait's implementation.

mod notes;

use std::process::ExitCode;

use colibri_runtime::{MemoryStore, serve_stdio};

/// The catalogue, compiled.
pub mod catalogue {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use catalogue::{CATALOGUE, Dispatcher};
use notes::{Notes, Server};

fn main() -> ExitCode {
    serve_stdio(&CATALOGUE, env!("CARGO_PKG_VERSION"), Dispatcher(Server), MemoryStore::new(Notes::new()))
}
