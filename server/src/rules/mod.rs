//! The arithmetic of reputation, routing and consensus (rules#purpose): integers with checked operations, one text
//! for each value, one hash for each set of rules. Pure.

#![deny(clippy::float_arithmetic)]

pub(crate) mod canonical;
pub(crate) mod integer;
pub(crate) mod version;
