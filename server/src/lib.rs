//! Colibri: an MCP server for agents whose work must be accountable.
//!
//! The catalogue says what the tools are; this crate says what they do.

pub mod cli;
pub mod domains;
pub mod lifecycle;
pub mod migrations;
pub mod report;
pub mod rules;
pub mod settings;
pub mod shell_word;
pub mod tools;
pub mod verification;

/// The version of this release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The catalogue, compiled.
#[allow(missing_docs, clippy::all)]
pub mod catalogue {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

/// Serves the catalogue over the process's own streams until they end. With `after_start` no call is answered before
/// the start is over.
pub fn serve(after_start: bool) -> std::process::ExitCode {
    let options = lifecycle::options::Options { answers_early: !after_start, ..Default::default() };
    let dispatch = catalogue::Dispatcher(tools::Domains::default());
    lifecycle::process::serve_with(&catalogue::CATALOGUE, dispatch, options)
}
