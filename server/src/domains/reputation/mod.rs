//! Reputation (reputation#purpose): what a node's work, as others acknowledge it, is worth in five domains.
//!
//! The arithmetic is pure: a standing and an event in, the next standing out. Every step is an entry of a
//! hash-chained ledger from which all standings follow.
//!
//! ```text
//! tasks, proof -> feed -+-> writer (inside the caller's savepoint) -> store (SQL)
//!                       |     |- gain, penalty   what the event makes of the standing
//!                       |     |- ledger          the entry and its hash
//!                       |     '- epoch           the logical clock
//!                       '-> experience           tokens: evidence of work
//! operator -> import ----'     |- replay          the ledger taken again, for `tie` and verification
//! tool (typed input) -> service, leaderboard -> store
//!                         |- decay, fading   what inactivity takes, on the way out
//!                         '- gates           what a standing allows
//! ```

#![deny(clippy::float_arithmetic)]

mod engine;
pub mod epoch;
pub(crate) mod errors;
pub(crate) mod experience;
pub(crate) mod feed;
pub(crate) mod import;
pub mod leaderboard;
pub(crate) mod output;
pub(crate) mod service;
mod store;
pub(crate) mod ties;
pub mod writer;

#[cfg(test)]
mod tests;

pub(crate) use engine::{automatic, fading, gates, tokens, ulid};
pub use engine::{decay, domain, event, gain, ledger, pack, penalty, replay, standing};
