//! Files that stand beside the database. They are opened freely; the database file itself and its
//! `-shm` never are, since closing such a handle would drop SQLite's POSIX locks (design R2).

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

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
    private(OpenOptions::new().create(true).truncate(false)).open(path)
}

/// Creates an empty file readable by its owner only; `Ok(false)` when there is one already, which is
/// then not opened.
///
/// # Errors
/// The operating system's.
pub fn create_new(path: &Path) -> io::Result<bool> {
    match private(OpenOptions::new().create_new(true)).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Mode 0600 where the system has modes (alpha §7.2).
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.read(true).write(true)
}
