//! Makes commits durable by syncing SQLite's `-wal` file directly, after the process has left the write queue
//! (store#durability). SQLite's own sync (`synchronous=FULL`) would happen inside the lock, and every other
//! writer would wait for the disk.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{SeekFrom, seek};

use crate::side_file;

/// How many bytes [`LogFile::renew`] reads and writes at once.
const RENEWED_AT_ONCE: usize = 1 << 18;

/// The log of one database. Unlike on the database file, SQLite takes no POSIX lock on it, so
/// another handle does no harm.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    /// Its entry in the folder is on disk.
    entered: bool,
}

impl LogFile {
    /// Opens the log of the database at `path`, which SQLite has made. While a connection is open it stays the same file:
    /// checkpoints overwrite it in place. [`crate::sqlite::open::identity::Place`] checks that its name still leads to it.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = side_file::named(path, "-wal");
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Ok(Self { path, file, entered: false })
    }

    /// Makes every commit so far durable.
    ///
    /// # Errors
    /// The operating system's error. The state of the disk is unknown then. A second sync could succeed
    /// without having written anything, so the caller must not try again.
    pub fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        if !self.entered {
            sync_directory(&self.path)?;
            self.entered = true;
        }
        Ok(())
    }

    /// Writes what is in the log over itself and syncs it. After a failed sync the disk may lack pages that the kernel
    /// takes for written, and shows to every reader; only a new write brings them there. Call it while nothing else
    /// can write to the log.
    ///
    /// # Errors
    /// The operating system's error. The content is the same as before.
    pub(crate) fn renew(&mut self) -> io::Result<()> {
        let end = self.end()?;
        let mut block = vec![0; RENEWED_AT_ONCE];
        let mut at = 0;
        while at < end {
            let rest = usize::try_from(end - at).map_or(block.len(), |rest| rest.min(block.len()));
            let block = block.get_mut(..rest).unwrap_or_default();
            self.file.read_exact_at(block, at)?;
            self.file.write_all_at(block, at)?;
            at += rest as u64;
        }
        self.sync()
    }

    /// Returns how many bytes it has. It seeks to the end, since reading the file's attributes would make the next sync slower
    /// (see [`crate::sqlite::open::identity`]).
    ///
    /// # Errors
    /// The operating system's error.
    pub fn end(&self) -> io::Result<u64> {
        Ok(seek(&self.file, SeekFrom::End(0))?)
    }
}

/// Syncs the folder of a file. Only then does a new file survive a power cut. SQLite does it at its own
/// first sync of the log, which with `synchronous=NORMAL` comes too late for the first replies.
pub(crate) fn sync_directory(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(directory) = file.parent() {
        return File::open(directory)?.sync_all();
    }
    let _ = file;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_log_tells_its_end_and_is_synced() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        std::fs::write(side_file::named(&database, "-wal"), b"one").unwrap();
        let mut log = LogFile::open(&database).unwrap();
        log.sync().unwrap();
        assert_eq!(log.end().unwrap(), 3);
    }

    #[test]
    fn a_renewed_log_has_the_same_content() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("a.db");
        let content: Vec<u8> = (0..2 * RENEWED_AT_ONCE + 7).map(|at| at.to_le_bytes()[0]).collect();
        std::fs::write(side_file::named(&database, "-wal"), &content).unwrap();
        let mut log = LogFile::open(&database).unwrap();
        log.renew().unwrap();
        assert!(log.entered, "it was synced");
        assert_eq!(std::fs::read(side_file::named(&database, "-wal")).unwrap(), content);
    }

    #[test]
    fn a_missing_log_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        assert!(LogFile::open(&directory.path().join("a.db")).is_err());
    }
}
