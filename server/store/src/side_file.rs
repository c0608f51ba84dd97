//! Files beside the database. They are opened freely; the database file itself and its
//! `-shm` never are, since closing such a handle would drop SQLite's POSIX locks (store#one-file).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Returns `<path><suffix>`.
pub fn named(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
