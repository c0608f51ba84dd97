//! The whole server beside others and beside what the machine can do at best. A load generator for MCP servers over
//! pipes, whose runs alternate so that ratios within a round survive a noisy machine.
//!
//!     cargo bench -p colibri-tests --bench server -- beside    # Colibri beside peers, calls of three tools
//!     cargo bench -p colibri-tests --bench server -- floor     # a call beside a bare commit and a bare pipe
//!     cargo bench -p colibri-tests --bench server -- start     # start to first answer beside peers
//!     cargo bench -p colibri-tests --bench server -- memory    # memory over 150,000 calls
//!
//! `--help` lists the options. The peers are built by `cargo build --release --manifest-path tests/benches/peer/Cargo.toml`.
//! Tables come out as Markdown; `docs/explanation/performance.md` says what was found.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

mod bare;
mod beside;
mod echo;
mod floor;
mod histogram;
mod load;
mod memory;
mod options;
mod peers;
mod process;
mod start;
mod stats;
mod table;
mod target;

use options::{Mode, Options};

fn main() {
    // Cargo adds a flag of its own to what the caller typed.
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            std::process::exit(2);
        }
    };
    if cfg!(debug_assertions) && options.mode != Mode::Echo {
        println!("**A debug build: none of these numbers mean anything.**\n");
    }
    match options.mode {
        Mode::Echo => echo::serve(),
        Mode::Beside => beside::run(&options),
        Mode::Floor => floor::run(&options),
        Mode::Start => start::run(&options),
        Mode::Memory => memory::run(&options),
    }
}
