//! The acceptance cases of the skill registry (epsilon §12, 54 to 61) against the real binary, over pipes.
//!
//! Cases 48 to 53 concern the parser alone; they, and what of these cases no client can see, are in
//! `server/tests/epsilon_engine`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod closed;
mod listing;
mod start;
mod world;
