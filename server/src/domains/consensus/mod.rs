//! The consensus tools use a committee of one and store rounds with their signed votes. The protocol is in the crate
//! `colibri-consensus`.
//!
//! ```text
//! tool (typed input) -> service -> history   a round, derived from its votes
//!                          |- cache, replay  a stored round, replayed unless its rows are unchanged
//!                          '- rounds         storage: store (SQL), or overlay (memory, in READONLY)
//! ```

pub mod errors;
pub mod node_key;
pub mod output;
pub mod overlay;
pub mod rounds;
pub mod service;
pub(crate) mod store;
pub mod ties;
mod verify;

pub use self::verify::{Mismatched, verify_rounds};
