//! Properties that must hold for any bytes, one property a file. A property is an ordinary function. The tests in
//! `tests/faults/fuzz_corpus` call it with the stored inputs of `tests/corpus` and seeded mutations of them; the targets in
//! `tests/fuzz` pass it to a fuzzer that is led by coverage.
//!
//! Each `check` panics where its property does not hold, and otherwise says whether the input was taken for sound: a
//! run that only ever sees one of the two answers has tested next to nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod catalogue;
pub mod checkpoint;
pub mod client_lines;
pub mod command;
pub mod export;
pub mod framing;
pub mod genuine;
pub mod intake;
pub mod json;
pub mod keys;
pub mod line_limit;
pub mod mutation;
pub mod proof;
pub mod server_lines;
pub mod skill;

/// A property with what its inputs are made of.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The module's name, the target's in `tests/fuzz`, the folder's in `tests/corpus`.
    pub name: &'static str,
    /// The property; whether the input was taken for sound.
    pub check: fn(&[u8]) -> bool,
    /// Pieces that change what the bytes around them mean.
    pub tokens: &'static [&'static str],
    /// How many mutations the ordinary test tries: about a second of a debug build.
    pub runs: u64,
    /// Nearly every change to a sound input makes an unsound one, so that a run may see no sound mutation.
    pub brittle: bool,
}

/// Every target.
pub const TARGETS: [Target; 12] = [
    target("framing", framing::check, framing::TOKENS, 1500),
    Target { brittle: true, ..target("line_limit", line_limit::check, framing::TOKENS, 4) },
    target("json", json::check, json::TOKENS, 10_000),
    target("intake", intake::check, intake::TOKENS, 1200),
    target("catalogue", catalogue::check, catalogue::TOKENS, 100),
    target("skill", skill::check, skill::TOKENS, 10_000),
    target("keys", keys::check, keys::TOKENS, 250),
    Target { brittle: true, ..target("proof", proof::check, proof::TOKENS, 1500) },
    Target { brittle: true, ..target("export", export::check, export::TOKENS, 1500) },
    target("checkpoint", checkpoint::check, checkpoint::TOKENS, 10_000),
    target("server_lines", server_lines::check, server_lines::TOKENS, 3000),
    target("client_lines", client_lines::check, client_lines::TOKENS, 3000),
];

const fn target(
    name: &'static str,
    check: fn(&[u8]) -> bool,
    tokens: &'static [&'static str],
    runs: u64,
) -> Target {
    Target { name, check, tokens, runs, brittle: false }
}
