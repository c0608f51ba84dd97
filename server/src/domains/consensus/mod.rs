//! Agreement of a committee of arbiters (theta).
//!
//! ```text
//! canonical, identity, clock, signing   bytes, names, times and signatures
//! messages                              what arbiters say to one another
//! quorum -> finality                    how many are enough, and how far a round has come
//! equivocation                          one arbiter, one round, two tuples: proven
//! private_key, ecvrf -> vrf             randomness that its owner cannot choose and everybody can check
//! leader -> round                       who proposes, and how a committee votes
//! ```
//!
//! The tools speak to a committee of one; what they store are rounds with their signed votes:
//!
//! ```text
//! tool (typed input) -> service -> history   a round as its votes tell it
//!                          |- cache, replay  a stored round played again, unless nothing has happened to it
//!                          '- rounds         where they are kept: store (SQL), or overlay (memory, in READONLY)
//! ```

pub mod cache;
pub mod canonical;
pub mod clock;
pub mod ecvrf;
pub mod equivocation;
pub mod errors;
pub mod finality;
pub mod history;
pub mod identity;
pub mod leader;
pub mod messages;
pub mod node_key;
pub mod output;
pub mod overlay;
pub mod private_key;
pub mod quorum;
pub mod replay;
pub mod round;
pub mod rounds;
pub mod service;
pub mod signing;
pub(crate) mod store;
pub mod stored;
pub mod ties;
mod verify;
pub mod vrf;

pub use self::verify::{Mismatched, verify_rounds};
