//! What reputation, routing and consensus calculate with (rules#purpose): whole numbers with checked operations,
//! one text for one value, one hash for one set of rules. Pure.

#![deny(clippy::float_arithmetic)]

pub mod canonical;
pub mod integer;
pub mod version;
