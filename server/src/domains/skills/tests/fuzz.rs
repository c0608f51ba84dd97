//! The parser under a great many broken files: corpus entries, cut, joined and sprinkled with what YAML finds
//! meaningful. Every run is a number: the same number makes the same bytes, and a failure prints its own.
//!
//! `COLIBRI_FUZZ_RUNS` says how many, `COLIBRI_FUZZ_SEED` from which number on.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use colibri_test_support::dice::Dice;

use crate::domains::skills::tests::corpus::{CORPUS, judge};

/// Runs without the variable.
const RUNS: u64 = 20_000;
/// As much of one piece as a front matter can hold.
const FULL: usize = crate::domains::skills::text::MAX_FRONTMATTER_BYTES;

/// Pieces that change what the text around them means.
const TOKENS: [&[u8]; 40] = [
    b"---",
    b"...",
    b"\n",
    b"\r\n",
    b"\r",
    b": ",
    b"- ",
    b"? ",
    b"&a ",
    b"*a",
    b"!!str ",
    b"!",
    b"<<: ",
    b"|",
    b">-",
    b"\"",
    b"'",
    b"\\",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b"#",
    b"%YAML 1.2\n",
    b"\t",
    b"  ",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xC2\x85",
    b"\xE2\x80\xA8",
    b"\xFF",
    b"\\u0000",
    b"\\x",
    b".inf",
    b"0x",
    b"1e999",
    b"@",
    b"`",
    b"name: ab\n",
];

/// The bytes of a run.
fn input(run: u64) -> Vec<u8> {
    let dice = Dice::new(run);
    let mut bytes = CORPUS[dice.place(CORPUS.len())].as_bytes().to_vec();
    // Most runs leave the opening line alone, or nothing behind it would ever be read.
    let kept = if dice.place(4) == 0 { 0 } else { 4 };
    for _ in 0..=dice.place(6) {
        let from = kept.min(bytes.len());
        let at = from + dice.place(bytes.len() - from + 1);
        let end = (at + dice.place(12)).min(bytes.len());
        match dice.place(7) {
            // Mostly ASCII: half of all bytes would end the run at the check of UTF-8.
            0 if at < bytes.len() => {
                bytes[at] = if dice.place(10) == 0 { 0xFF } else { dice.place(128) as u8 }
            }
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = dice.place(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            3 => {
                let other = CORPUS[dice.place(CORPUS.len())].as_bytes();
                bytes.truncate(at);
                bytes.extend_from_slice(&other[dice.place(other.len())..]);
            }
            4 => {
                let token = TOKENS[dice.place(TOKENS.len())];
                let many = 1 + dice.place(40);
                bytes.splice(at..at, token.repeat(many));
            }
            _ => drop(bytes.splice(at..at, TOKENS[dice.place(TOKENS.len())].iter().copied())),
        }
    }
    bytes
}

#[test]
fn no_input_makes_the_parser_panic() {
    let number = |name, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (runs, first) = (number("COLIBRI_FUZZ_RUNS", RUNS), number("COLIBRI_FUZZ_SEED", 0));
    let (mut accepted, mut reasons) = (0_u64, BTreeMap::new());
    for run in first..first + runs {
        let bytes = input(run);
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| judge(&bytes))) else {
            panic!("run {run}: {:?}", String::from_utf8_lossy(&bytes));
        };
        match answer {
            Ok(_) => accepted += 1,
            Err(refusal) => *reasons.entry(refusal.reason.as_str()).or_insert(0_u64) += 1,
        }
    }
    writeln!(std::io::stderr(), "{runs} runs: {accepted} accepted, {reasons:?}").unwrap();
    // A fuzzer that only ever sees one answer tests one line.
    assert!(runs < RUNS || accepted > runs / 100 && reasons.len() >= 7, "{accepted} accepted, {reasons:?}");
}

/// Depth and length are where parsers overflow their stack or lose themselves.
#[test]
fn a_front_matter_full_of_one_piece_gets_an_answer() {
    for token in
        TOKENS.iter().copied().chain([&b"[{"[..], b"a: ", b"- - ", b"a: [", b"? - ", b"k: v\n", b"\n "])
    {
        for before in ["", "name: ab\ndescription: ", "x: {", "\""] {
            let block = token.repeat((FULL - before.len()) / token.len());
            let file = [b"---\n", before.as_bytes(), &block, b"\n---\n"].concat();
            let _ = judge(&file);
        }
    }
}
