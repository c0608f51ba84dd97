//! From a catalogue to generated Rust: what is refused and in which words, what is written, and what an edit changes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_catalogues;
mod example_edits;
mod golden;
mod golden_compiles;
