//! `colibri-codegen drift`, from outside: the command on files, and on a catalogue in a git repository.
//!
//! `UPDATE_GOLDEN=1` writes expected texts anew; look at the difference before committing it.

mod command;
mod repository;

use std::path::{Path, PathBuf};

use colibri_codegen::{Written, write_or_check};

/// The folder of the crate.
fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of this test.
fn here() -> PathBuf {
    manifest().join("tests/compiler/drift")
}

/// The fixtures of the gate's rules.
fn fixtures() -> PathBuf {
    manifest().join("drift/tests/gate/tool")
}

/// Fails when the file differs, or writes it.
fn golden(path: &Path, text: &str) {
    let check = std::env::var_os("UPDATE_GOLDEN").is_none();
    let written = write_or_check(path, text, check).unwrap();
    assert_ne!(written, Written::Stale, "{} differs; see UPDATE_GOLDEN. Found:\n{text}", path.display());
}
