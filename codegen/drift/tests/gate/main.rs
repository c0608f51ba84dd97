//! The drift gate, from outside: fixtures of rules, real servers' histories, soundness, the command `mcp-drift`.
//!
//! `UPDATE_GOLDEN=1` writes expected texts anew; look at the difference before committing it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bounds;
mod capture;
mod command;
mod config;
mod edits;
mod fixtures;
mod frozen;
mod history;
mod hosts;
mod http;
mod inputs;
mod play;
mod positions;
mod reference;
mod reports;
mod schemas;
mod soundness;

use std::fs;
use std::path::{Path, PathBuf};

use colibri_drift::{Snapshot, Waiver, waivers};

/// The folder of this test.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gate")
}

/// A file that holds a lock or a server's answers.
fn snapshot(path: &Path) -> Snapshot {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Snapshot::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The waivers of a case; most have none.
fn accepted(folder: &Path, case: &str) -> Vec<Waiver> {
    let text = fs::read_to_string(folder.join(format!("{case}.waivers.yaml")));
    text.map(|text| waivers(&text).unwrap()).unwrap_or_default()
}

/// Fails when the file differs, or writes it.
fn golden(path: &Path, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, text).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert!(expected == text, "{} differs; see UPDATE_GOLDEN. Found:\n{text}", path.display());
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
