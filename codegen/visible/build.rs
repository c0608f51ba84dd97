//! Writes the ranges of the Unicode properties that `src/lib.rs` asks for, as `regex-syntax` knows them.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use regex_syntax::hir::{Class, HirKind};

/// The tables, each as a class of a regular expression.
const TABLES: [(&str, &str, &str); 4] = [
    (
        "HIDDEN",
        "Controls, characters of format, separators of lines, what Unicode says to show as nothing, and what it says is never a character.",
        r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}]",
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

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut text = String::new();
    for (name, what, class) in TABLES {
        let ranges = ranges(class)?;
        write!(text, "/// {what}\nstatic {name}: [(u32, u32); {}] = {ranges:?};\n", ranges.len())?;
    }
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: Cargo runs this")?);
    Ok(std::fs::write(folder.join("tables.rs"), text)?)
}

/// The code points that the class holds.
fn ranges(class: &str) -> Result<Vec<(u32, u32)>, Box<dyn Error>> {
    match regex_syntax::parse(class)?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Ok(class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect())
        }
        other => Err(format!("{class} is no class of characters: {other:?}").into()),
    }
}
