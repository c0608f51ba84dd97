//! The drift gate, from outside: fixtures of rules, real servers' histories, the command.
//!
//! `UPDATE_GOLDEN=1` writes expected texts anew; look at the difference before committing it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod command;
mod fixtures;
mod frozen;
mod history;
mod repository;

use std::fs;
use std::path::{Path, PathBuf};

use colibri_codegen::drift::snapshot::{Snapshot, from_lock, from_tools_list};
use colibri_codegen::{Written, write_or_check};

/// The folder of this test.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drift")
}

/// A file that holds a lock or a server's answers.
fn snapshot(path: &Path) -> Snapshot {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parsed = if text.contains("\"lock\":") { from_lock(&text) } else { from_tools_list(&text) };
    parsed.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Fails when the file differs, or writes it.
fn golden(path: &Path, text: &str) {
    let check = std::env::var_os("UPDATE_GOLDEN").is_none();
    let written = write_or_check(path, text, check).unwrap();
    assert_ne!(written, Written::Stale, "{} differs; see UPDATE_GOLDEN. Found:\n{text}", path.display());
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
