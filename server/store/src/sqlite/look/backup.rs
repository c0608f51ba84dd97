//! A copy of a database as it stands at one moment, while others go on writing: SQLite's online backup, page by page,
//! inside one read transaction.
//!
//! The copy is one file with nothing beside it (its journal mode is DELETE; a server that starts on it sets its own).
//! It gets its name only when it is complete and on disk, and the caller has checked it.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::db::Db;
use crate::db::sqlite::bounds;
use crate::db::sqlite::handle::reason;
use crate::private_file;
use crate::side_file;

/// Pages copied between two reports: 16 MiB.
const PAGES_AT_ONCE: i32 = 4096;

/// Why no copy was made. Its partial file has been removed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file with that name exists. It is left as it is.
    #[error("{0} is there already and was not changed; choose another name")]
    Exists(String),
    /// The file cannot be made there.
    #[error("cannot create {path}: {error}; check the path")]
    Place {
        /// The copy's path.
        path: String,
        /// The operating system's reason.
        error: io::Error,
    },
    /// Another command is making the same copy.
    #[error("another command is writing {0}; wait for it, or name a new file")]
    Busy(String),
    /// The caller asked it to stop.
    #[error("interrupted; no backup was made at {0}")]
    Interrupted(String),
    /// Copying failed.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The copy's path.
        path: String,
        /// SQLite's or the operating system's reason.
        reason: String,
    },
}

/// How far a copy is, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Pages copied.
    pub done: u64,
    /// Pages in all.
    pub total: u64,
}

/// A finished copy under another name, which is removed unless the copy gets its own.
#[derive(Debug)]
pub struct Unnamed {
    /// How many pages it has.
    pub copied: Copied,
    part: PathBuf,
    to: PathBuf,
    /// Locked while the copy is being made, which tells it from one that a killed command has left.
    _growing: File,
}

impl Unnamed {
    /// Creates an empty file, which is to have the new name `to`.
    ///
    /// # Errors
    /// [`BackupError::Exists`], [`BackupError::Busy`], [`BackupError::Place`].
    pub(super) fn begin(to: &Path) -> Result<Self, BackupError> {
        let shown = || to.display().to_string();
        if to.symlink_metadata().is_ok() {
            return Err(BackupError::Exists(shown()));
        }
        let part = side_file::named(to, ".part");
        let growing = begin(&part).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => BackupError::Busy(shown()),
            _ => BackupError::Place { path: shown(), error },
        })?;
        Ok(Self { copied: Copied { done: 0, total: 0 }, part, to: to.to_owned(), _growing: growing })
    }

    /// Notes how many pages the finished file has.
    pub(super) fn complete(&mut self, pages: u64) {
        self.copied = Copied { done: pages, total: pages };
    }

    /// Returns where the copy lies meanwhile.
    pub fn path(&self) -> &Path {
        &self.part
    }

    /// Gives the copy its name, unless another file has it by now.
    ///
    /// # Errors
    /// [`BackupError::Exists`], [`BackupError::Write`].
    pub fn name(self) -> Result<Copied, BackupError> {
        name(&self.part, &self.to)
            .map(|()| self.copied)
            .map_err(|error| not_named(self.to.display().to_string(), &error))
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        // The name of a file that cannot be removed shows that it is not a finished copy.
        let _ = std::fs::remove_file(&self.part);
        let _ = remove_journal(&self.part);
    }
}

/// Copies the database behind `from`, as its read transaction sees it, to a file that is to have the new name `to`. `progress`
/// says whether to go on.
///
/// # Errors
/// See [`BackupError`].
pub fn copy(
    from: &Db,
    to: &Path,
    progress: &mut dyn FnMut(Copied) -> ControlFlow<()>,
) -> Result<Unnamed, BackupError> {
    let shown = || to.display().to_string();
    let mut copy = Unnamed::begin(to)?;
    let copied = from
        .sqlite()
        .and_then(|conn| pages(conn, &copy.part, progress))
        .map_err(|error| BackupError::Write { path: shown(), reason: reason(&error) })?;
    copy.copied = copied.ok_or_else(|| BackupError::Interrupted(shown()))?;
    Ok(copy)
}

/// Creates an empty file for the copy, beside its name, so that the later renaming moves no data.
fn begin(part: &Path) -> io::Result<File> {
    let file = private_file::open_or_create(part)?;
    file.try_lock()?;
    file.set_len(0)?;
    remove_journal(part)?;
    Ok(file)
}

/// Returns the error of a renaming. Another process may have taken the name meanwhile.
fn not_named(path: String, error: &io::Error) -> BackupError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(path),
        _ => BackupError::Write { path, reason: error.to_string() },
    }
}

/// Removes a journal that a killed command has left. SQLite would apply it to the new copy.
fn remove_journal(part: &Path) -> io::Result<()> {
    match std::fs::remove_file(side_file::named(part, "-journal")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies the pages; `None` if it was asked to stop.
fn pages(
    from: &Connection,
    part: &Path,
    progress: &mut dyn FnMut(Copied) -> ControlFlow<()>,
) -> rusqlite::Result<Option<Copied>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut to = Connection::open_with_flags(part, flags)?;
    // The copy has the schema of the file, which may be made to mislead.
    bounds::limit(&mut to)?;
    // No other process knows the file, and an unfinished one is removed.
    to.execute_batch("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    let copied = {
        let backup = Backup::new(from, &mut to)?;
        loop {
            let step = backup.step(PAGES_AT_ONCE)?;
            let at = backup.progress();
            let total = u64::try_from(at.pagecount).unwrap_or(0);
            let copied =
                Copied { done: total.saturating_sub(u64::try_from(at.remaining).unwrap_or(0)), total };
            if progress(copied).is_break() {
                return Ok(None);
            }
            match step {
                StepResult::Done => break copied,
                // Another program holds the file for a moment; within a read transaction it cannot be for long.
                StepResult::Busy | StepResult::Locked => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                _ => {}
            }
        }
    };
    // It answers with the mode that is in force; a copy in another one is whole as well.
    let _mode: String = to.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    to.close().map_err(|(_, error)| error)?;
    Ok(Some(copied))
}

/// Syncs the finished file and gives it its name, unless another file has it by now.
fn name(part: &Path, to: &Path) -> io::Result<()> {
    File::open(part)?.sync_all()?;
    match std::fs::hard_link(part, to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // Some file systems have no links.
        Err(_) => std::fs::rename(part, to)?,
    }
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
