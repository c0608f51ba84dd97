//! Makes commits durable by syncing SQLite's `-wal` file ourselves, after the write queue was left
//! (design §3). SQLite's own sync (`synchronous=FULL`) would happen inside the lock, and every other
//! writer would wait for the disk.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::side_file;

/// The log of one database. Unlike the database file, SQLite takes no POSIX lock on it, so that a
/// handle of our own does no harm.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    open: Option<(File, Identity)>,
}

/// Tells two files of one name apart.
type Identity = (u64, u64);

impl LogFile {
    /// The log of the database at `path`; opened at the first sync.
    pub fn of(path: &Path) -> Self {
        Self { path: side_file::named(path, "-wal"), open: None }
    }

    /// Makes every commit so far durable.
    ///
    /// While a connection is open the log stays the same file: checkpoints overwrite it in place. The
    /// look at its identity finds a log that somebody has replaced nevertheless.
    ///
    /// # Errors
    /// The operating system's. The state of the disk is unknown then; a second sync could succeed
    /// without having written anything, so there must not be one.
    pub fn sync(&mut self) -> io::Result<()> {
        let present = identity_at(&self.path)?;
        if let Some((file, known)) = &self.open
            && *known == present
        {
            return file.sync_data();
        }
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        file.sync_data()?;
        sync_directory(&self.path)?;
        let opened = identity(&file.metadata()?);
        self.open = Some((file, opened));
        Ok(())
    }
}

/// A new file is there after a power cut only if its directory was synced. SQLite does it at its own
/// first sync of the log, which with `synchronous=NORMAL` comes too late for the first replies.
pub(super) fn sync_directory(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(directory) = file.parent() {
        return File::open(directory)?.sync_all();
    }
    let _ = file;
    Ok(())
}

/// The identity of whatever has that name.
///
/// On Linux nothing else is asked for. Who reads a file's times has the kernel keep the next change's time exactly, and
/// that is one more block to write with every sync, a third of its duration (multigrain timestamps, Linux 6.13).
#[cfg(target_os = "linux")]
fn identity_at(path: &Path) -> io::Result<Identity> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
    match statx(CWD, path, AtFlags::empty(), StatxFlags::INO) {
        Ok(found) => Ok((makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino)),
        // Some sandboxes know no statx.
        Err(rustix::io::Errno::NOSYS) => Ok(identity(&std::fs::metadata(path)?)),
        Err(error) => Err(error.into()),
    }
}

/// The identity of whatever has that name.
#[cfg(not(target_os = "linux"))]
fn identity_at(path: &Path) -> io::Result<Identity> {
    Ok(identity(&std::fs::metadata(path)?))
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Without inodes: an open log cannot be replaced on such systems, so one identity fits all.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    (0, 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_replaced_log_is_opened_anew() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        let log = side_file::named(&database, "-wal");
        std::fs::write(&log, b"one").unwrap();
        let mut file = LogFile::of(&database);
        file.sync().unwrap();
        let first = file.open.as_ref().unwrap().1;
        file.sync().unwrap();
        assert_eq!(file.open.as_ref().unwrap().1, first);

        let other = directory.path().join("other");
        std::fs::write(&other, b"two").unwrap();
        std::fs::rename(&other, &log).unwrap();
        file.sync().unwrap();
        assert_ne!(file.open.as_ref().unwrap().1, first);
    }

    #[test]
    fn a_missing_log_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert!(LogFile::of(&directory.path().join("a.db")).sync().is_err());
    }
}
