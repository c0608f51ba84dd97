//! Colibri: an MCP server for agents whose work must be accountable.
//!
//! The catalogue says what the tools are; this crate says what they do. A program that serves them is one call:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     // `false`: probes such as `tools/list` are answered before the start is over.
//!     colibri::serve(false)
//! }
//! ```
//!
//! A program that brings its own streams, clock, ids or audit sink calls [`create_server`] with [`Options`], then
//! [`Server::start`], [`Server::run`] and [`Server::stop`].

mod relay;
mod rules;
mod shell_word;

// The tests of the workspace and its main program reach into these; nothing here is promised to others. A test of the house
// fails for a public item that none of them names.
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod domains;
#[doc(hidden)]
pub mod lifecycle;
#[doc(hidden)]
pub mod migrations;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod settings;
#[doc(hidden)]
pub mod shared_schema;
#[doc(hidden)]
pub mod tools;
#[doc(hidden)]
pub mod verification;
#[doc(hidden)]
pub mod wrap;

pub use lifecycle::options::{AuditChoice, Options};
pub use lifecycle::server::{Server, StartError, create_server};
pub use lifecycle::transport::{Ready, Transport};

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
