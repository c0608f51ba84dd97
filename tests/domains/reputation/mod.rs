//! The acceptance cases of reputation (reputation#purpose, and the run of reputation#gains) against the real
//! binary, over pipes. Where a case needs epochs of its own choosing, the writer runs on a connection of the test's, and
//! the server reads what it wrote.
//!
//! Pure functions are tested beside the engine.

mod board;
mod damaged;
mod epochs;
mod feeds;
mod gains;
mod gates;
mod guards;
mod history;
mod modes;
mod penalties;
mod reading;
mod shared;
mod tokens;
mod world;
