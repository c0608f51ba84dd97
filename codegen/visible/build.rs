//! Writes the ranges of the Unicode properties that `src/lib.rs` asks for, as `regex-syntax` knows them.

use std::fmt::Write as _;
use std::path::PathBuf;

use regex_syntax::hir::{Class, HirKind};

/// The tables, each as a class of a regular expression.
const TABLES: [(&str, &str, &str); 4] = [
    (
        "HIDDEN",
        "Controls, characters of format, separators of lines, and what Unicode says to show as nothing.",
        r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]",
    ),
    ("EMOJI", "Characters that can be shown as emoji; digits are among them.", r"[\p{Emoji}--[0-9#*]]"),
    (
        "PICTURE",
        "What a joiner can join to one emoji, and what can end its parts.",
        r"[\p{Extended_Pictographic}\p{Emoji_Modifier}\x{FE0F}]",
    ),
    (
        "LETTER",
        "Letters and marks of scripts without cases that are written joined or in clusters.",
        r"[[\p{Lo}\p{M}]--[\p{Default_Ignorable_Code_Point}\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}\p{Latin}]]",
    ),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut text = String::new();
    for (name, what, pattern) in TABLES {
        let ranges = ranges(pattern);
        let _ = write!(text, "/// {what}\nstatic {name}: [(u32, u32); {}] = {ranges:?};\n", ranges.len());
    }
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo names the folder"));
    std::fs::write(folder.join("tables.rs"), text).expect("Cargo's folder can be written");
}

/// The code points that the class holds.
fn ranges(class: &str) -> Vec<(u32, u32)> {
    let parsed = regex_syntax::parse(class).unwrap_or_else(|error| panic!("{class}: {error}"));
    match parsed.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect()
        }
        other => panic!("{class} is no class of characters: {other:?}"),
    }
}
