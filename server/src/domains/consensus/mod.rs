//! The tools of consensus speak to a committee of one; what they store are rounds with their signed votes. The protocol is in
//! the crate `colibri-consensus`.
//!
//! ```text
//! tool (typed input) -> service -> history   a round as its votes tell it
//!                          |- cache, replay  a stored round played again, unless nothing has happened to it
//!                          '- rounds         where they are kept: store (SQL), or overlay (memory, in READONLY)
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
