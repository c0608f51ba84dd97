//! From a catalogue to generated Rust: what is refused and in which words, what is written, what an edit changes, and the
//! command that compares.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_catalogues;
mod drift;
mod example_edits;
mod golden;
mod golden_compiles;
mod import;
mod kit;
mod lint_page;
mod new;
mod package;
mod patterns;
