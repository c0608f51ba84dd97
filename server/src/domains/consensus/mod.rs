//! The consensus tools use a committee of one and store rounds with their signed votes. The protocol is in the crate
//! `colibri-consensus`.
//!
//! ```text
//! tool (typed input) -> service -> history   a round, derived from its votes
//!                          |- cache, replay  a stored round, replayed unless its rows are unchanged
//!                          '- rounds         storage: store (SQL), or overlay (memory, in READONLY)
//! ```

pub(crate) mod errors;
pub mod node_key;
pub(crate) mod output;
pub(crate) mod overlay;
pub(crate) mod rounds;
pub(crate) mod service;
pub(crate) mod store;
pub(crate) mod ties;
mod verify;

pub(crate) use self::verify::verify_rounds;
