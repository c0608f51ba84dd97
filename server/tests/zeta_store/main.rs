//! The trail on a database, below the tools: what its tables refuse, and retention, which has no tool (zeta §16,
//! 54 to 58).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod guards;
mod retention;
mod run;
mod service;
mod support;
