//! What must hold whatever bytes come in, one property a file. A property is an ordinary function: the tests in
//! `tests/fuzz_corpus` call it with the stored inputs of `tests/corpus` and seeded mutations of them, the targets in
//! `fuzz/` hand it to a fuzzer that is led by coverage.
//!
//! Each `check` panics where its property does not hold, and otherwise says whether the input was taken for sound: a
//! run that only ever sees one of the two answers has tested next to nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod catalogue;
pub mod checkpoint;
pub mod command;
pub mod dice;
pub mod export;
pub mod framing;
pub mod genuine;
pub mod intake;
pub mod json;
pub mod keys;
pub mod line_limit;
pub mod mutation;
pub mod proof;
pub mod skill;

/// A property with what its inputs are made of.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The module's name, the target's in `fuzz/`, the folder's in `tests/corpus`.
    pub name: &'static str,
    /// The property; whether the input was taken for sound.
    pub check: fn(&[u8]) -> bool,
    /// Pieces that change what the bytes around them mean.
    pub tokens: &'static [&'static str],
    /// How many mutations the ordinary test tries: about a second of a debug build.
    pub runs: u64,
}

/// Every target.
pub const TARGETS: [Target; 10] = [
    Target { name: "framing", check: framing::check, tokens: framing::TOKENS, runs: 1500 },
    Target { name: "line_limit", check: line_limit::check, tokens: framing::TOKENS, runs: 4 },
    Target { name: "json", check: json::check, tokens: json::TOKENS, runs: 3000 },
    Target { name: "intake", check: intake::check, tokens: intake::TOKENS, runs: 300 },
    Target { name: "catalogue", check: catalogue::check, tokens: catalogue::TOKENS, runs: 100 },
    Target { name: "skill", check: skill::check, tokens: skill::TOKENS, runs: 1500 },
    Target { name: "keys", check: keys::check, tokens: keys::TOKENS, runs: 1000 },
    Target { name: "proof", check: proof::check, tokens: proof::TOKENS, runs: 400 },
    Target { name: "export", check: export::check, tokens: export::TOKENS, runs: 300 },
    Target { name: "checkpoint", check: checkpoint::check, tokens: checkpoint::TOKENS, runs: 1500 },
];
