//! The trail on a database, below the tools: what its tables refuse, and retention record by record (trail#golden-vectors,
//! 54 to 58).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod guards;
mod retention;
mod service;
mod support;
mod walks;
