//! Files that stand beside the database. They are opened freely; the database file itself and its
//! `-shm` never are, since closing such a handle would drop SQLite's POSIX locks (design R2).

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::private_file;

/// `<path><suffix>`.
pub fn named(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Opens a side file, creating it readable by its owner only.
///
/// # Errors
/// The operating system's.
pub fn create(path: &Path) -> io::Result<File> {
    private_file::open_or_create(path)
}

/// Creates a file readable by its owner only.
///
/// # Errors
/// The operating system's, also when there is one already, which is then not opened.
pub fn create_new(path: &Path) -> io::Result<File> {
    private_file::create_new(path)
}
