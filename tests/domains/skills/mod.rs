//! The acceptance cases of the skill registry (skills#purpose) against the real binary, over pipes.
//!
//! Tests of the parser, and of what no client can see, are in `server/src/domains/skills/tests`.

mod closed;
mod listing;
mod start;
mod world;
