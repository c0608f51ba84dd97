//! A deterministic simulator: several server processes on one file, their clients, and faults, all from one
//! seed. The processes are real: chain, store, handlers and file are the server's own. What is simulated is around
//! them: [`kernel`] time and ids, [`faults`] what the store and the handlers do not get done, [`world`] who runs next,
//! dies or comes up. [`model`] knows what must hold, and [`check`] holds the file against it.
//!
//! A failure prints its seed. To replay it alone:
//! `COLIBRI_SIMULATOR_SEED=7 cargo test -p colibri-tests --test simulator`. `tests/long` runs it for as long as you ask.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod check;
mod clients;
mod faults;
mod frozen;
mod history;
mod kernel;
mod model;
mod process;
mod rows;
mod runs;
mod work;
mod world;
