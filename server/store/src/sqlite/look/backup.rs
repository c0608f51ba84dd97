//! A copy of a database as it stands at one moment, while others go on writing: SQLite's online backup, page by page,
//! inside one read transaction.
//!
//! The copy is one file with nothing beside it (its journal mode is DELETE; a server that starts on it sets its own).
//! It gets its name only when it is complete and on disk, and the caller has checked it.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::db::Db;
use crate::db::sqlite::bounds;
use crate::db::sqlite::handle::reason;
use crate::part::{Part, PartError};

/// Pages copied between two reports: 16 MiB.
const PAGES_AT_ONCE: i32 = 4096;

/// Why no copy was made. Nothing of it stays.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Its file cannot be made.
    #[error("{0}")]
    File(#[from] PartError),
    /// The caller asked it to stop.
    #[error("interrupted")]
    Interrupted,
}

impl BackupError {
    /// Returns the same of a file that the user knows, in place of the copy that is made for it.
    pub(super) fn of(self, path: &Path) -> Self {
        match self {
            Self::File(PartError::Write { reason, .. }) => {
                Self::File(PartError::Write { path: path.display().to_string(), reason })
            }
            other => other,
        }
    }
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
    part: Part,
}

impl Unnamed {
    /// Creates an empty file, which is to have the new name `to`.
    ///
    /// # Errors
    /// Those of [`Part::begin`].
    pub(super) fn begin(to: &Path) -> Result<Self, BackupError> {
        Ok(Self { copied: Copied { done: 0, total: 0 }, part: Part::begin(to)? })
    }

    /// Notes how many pages the finished file has.
    pub(super) fn complete(&mut self, pages: u64) {
        self.copied = Copied { done: pages, total: pages };
    }

    /// Returns where the copy lies meanwhile.
    pub fn path(&self) -> &Path {
        self.part.path()
    }

    /// Gives the copy its name, unless another file has it by now.
    ///
    /// # Errors
    /// Those of [`Part::name`].
    pub fn name(self) -> Result<Copied, BackupError> {
        self.part.name()?;
        Ok(self.copied)
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
    let mut copy = Unnamed::begin(to)?;
    let copied = from
        .sqlite()
        .and_then(|conn| pages(conn, copy.path(), progress))
        .map_err(|error| copy.part.failed(reason(&error)))?;
    copy.copied = copied.ok_or(BackupError::Interrupted)?;
    Ok(copy)
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
