//! The acceptance cases of the skill registry (skills#purpose) against the real binary, over pipes.
//!
//! Cases 48 to 53 concern the parser alone; they, and what of these cases no client can see, are in
//! `server/src/domains/skills/tests`.

mod closed;
mod listing;
mod start;
mod world;
