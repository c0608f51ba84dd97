//! The arithmetic of reputation, routing and consensus (rules#purpose): integers with checked operations, one text
//! for each value, one hash for each set of rules. Pure.

#![deny(clippy::float_arithmetic)]

pub mod canonical;
pub mod integer;
pub mod version;
