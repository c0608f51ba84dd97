//! Reputation (lambda): what a node's work, as others acknowledge it, is worth in five domains.
//!
//! The arithmetic is pure: a standing and an event in, the next standing out. Every step is an entry of a
//! hash-chained ledger from which all standings follow.

#![deny(clippy::float_arithmetic)]

pub mod automatic;
pub mod decay;
pub mod domain;
pub mod event;
pub mod gain;
pub mod gates;
pub mod ledger;
pub mod pack;
pub mod penalty;
pub mod replay;
pub mod score;
pub mod snapshot;
pub mod standing;
pub mod tokens;
