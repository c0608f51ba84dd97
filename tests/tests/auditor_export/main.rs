//! `colibri export` and `colibri verify-export` against the real binary: taken from the database of a running server,
//! checked in another folder with an empty environment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod exports;
mod verdicts;
mod world;
