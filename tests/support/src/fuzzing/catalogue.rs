//! Catalogues: any files give a model or findings that stand inside the files, and a model gives Rust that parses.

use std::fs;
use std::path::{Path, PathBuf};

use colibri_codegen::catalogue::{Catalogue, Finding, findings};
use colibri_codegen::{compile, lock, reference};
use colibri_drift::{compare, from_lock};

/// Pieces that mean something to YAML, to schemas and to Rust.
pub const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "&a ",
    "*a",
    "!!x ",
    "? ",
    "| ",
    ">-\n",
    "\"",
    "'",
    "\\",
    "#",
    "\t",
    "\r",
    "\u{feff}",
    "\u{85}",
    "null",
    "true",
    "$ref: Note",
    "type: integer",
    "type: string",
    "enum: [A, a]",
    "enum: []",
    "pattern: '['",
    "minimum: 1",
    "maximum: 0",
    "default: 1",
    "type",
    "self",
    "r#type",
    "Self",
    "crate",
    "0x",
    "-0.0",
    ".inf",
    "1e999",
    "~",
    "\u{0}",
    "required: [a]",
    "anyOf:",
    "items: {}",
    "\n=====\n",
];

/// The files of an input, which are divided by this line.
const DIVIDER: &str = "\n=====\n";
const FILES: [&str; 4] = ["catalogue.yaml", "types.yaml", "tools/notes.yaml", "tools/vault.yaml"];

/// Compiles the catalogue; whether that went well.
pub fn check(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::create_dir(root.join("tools")).expect("a folder");
    for (name, text) in FILES.iter().zip(parts(bytes)) {
        fs::write(root.join(name), text).expect("a file");
    }
    match compile(root) {
        Ok(generated) => {
            syn::parse_file(&generated.rust).unwrap_or_else(|error| panic!("{error}:\n{}", generated.rust));
            sound(root);
            true
        }
        Err(found) => {
            assert!(!found.is_empty(), "neither a model nor a finding");
            found.iter().for_each(|finding| stands_inside(root, finding));
            let shown = findings::render(&found);
            assert_eq!(shown.matches("= help: ").count(), found.len(), "{shown}");
            false
        }
    }
}

/// Up to four files.
fn parts(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), bytes);
    let divider = DIVIDER.as_bytes();
    while let Some(at) = rest.windows(divider.len()).position(|piece| piece == divider) {
        // The line end before the divider is the file's.
        parts.push(&rest[..=at]);
        rest = &rest[at + divider.len()..];
    }
    parts.push(rest);
    parts
}

/// What else is made of a catalogue that compiles.
fn sound(root: &Path) {
    let catalogue = Catalogue::load(root).expect("it was loaded before");
    let text = lock(&catalogue).expect("a lock");
    assert_eq!(lock(&catalogue).expect("a lock"), text, "the same catalogue, the same lock");
    let state = from_lock(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    assert!(compare(&state, &state).is_empty(), "it differs from itself:\n{text}");
    assert!(!reference(&catalogue).expect("pages").is_empty());
}

/// A finding names a file of the catalogue, and a line and a column that the file has.
fn stands_inside(root: &Path, finding: &Finding) {
    let line = findings::line(finding);
    assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{line}");
    assert!(!finding.message.contains("generated code does not parse"), "the lint let it through: {line}");
    let path: PathBuf = finding.at.path.clone();
    assert!(path.starts_with(root), "{line}");
    let Ok(bytes) = fs::read(&path) else {
        assert_eq!((finding.at.line, finding.at.column), (1, 1), "no file, no place: {line}");
        return;
    };
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    let Some(found) = text.split(['\n', '\r']).nth(finding.at.line.wrapping_sub(1)) else {
        panic!("there is no such line: {line}");
    };
    let columns = 1..=found.chars().count() + 1;
    assert!(columns.contains(&finding.at.column), "there is no such column: {line} in {found:?}");
}
