//! Records, chains, trees, heads, proof files and exports, with golden data and independent implementations.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod exports;
mod given;
mod proof;
mod trail;
