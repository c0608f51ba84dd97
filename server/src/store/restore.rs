//! Puts a backup in the place of a database, and keeps what was there.
//!
//! The new file is made whole and synced beside the old one. Then one system call exchanges their names, so that a kill at
//! any point leaves either the old database, complete with its log, or the new one. The old log gets a second name before
//! and loses its first one afterwards. A start that finds it under both names drops the first ([`super::placement`]).

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::backup::{BackupError, Copied, copy};
use super::db::Db;
use super::queue::{PATIENCE, WriteQueue};
use super::{placement, process, side_file};

/// Why a backup was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A process works on the database.
    #[error("{0} has the database open; stop it, then run the command again")]
    InUse(String),
    /// A step failed. Up to the exchange of names the database is as it was, and afterwards the next start finishes.
    #[error("{path}: {doing}: {error}")]
    Io {
        /// The database's path.
        path: String,
        /// What was tried.
        doing: &'static str,
        /// The operating system's reason.
        error: io::Error,
    },
    /// The copy could not be made.
    #[error("{0}; the database is as it was")]
    Copy(#[from] BackupError),
}

/// What was done.
#[derive(Debug)]
pub struct Restored {
    /// How many pages the database has now.
    pub copied: Copied,
    /// Where the file that was replaced lies, if there was one. Its log has that name with `-wal`.
    pub kept: Option<PathBuf>,
}

/// Replaces the database at `to` by a copy of `from`. What was there is renamed to `<to>.replaced-<stamp>`.
///
/// # Errors
/// [`RestoreError`].
pub fn restore(
    from: &Db,
    to: &Path,
    stamp: &str,
    progress: &mut dyn FnMut(Copied) -> ControlFlow<()>,
) -> Result<Restored, RestoreError> {
    let failed = |doing: &'static str| {
        let path = to.display().to_string();
        move |error: io::Error| RestoreError::Io { path, doing, error }
    };
    let to = &true_name(to).map_err(failed("cannot find its place"))?;
    let folder = to.parent().unwrap_or(Path::new("/"));
    let mut queue = WriteQueue::open(to).map_err(failed("cannot open its write queue"))?;
    queue.enter(PATIENCE).map_err(failed("cannot enter its write queue"))?;
    let taken = unused(to)?;
    let kept = side_file::named(to, &format!(".replaced-{stamp}"));
    // Not a name that SQLite would look for while the copy still has the name beside it.
    let kept_log = side_file::named(&kept, "-log");
    let copied = copy(from, &kept, progress)?;
    let log = side_file::named(to, "-wal");
    let has_log = log.exists();
    if has_log {
        std::fs::hard_link(&log, &kept_log).map_err(failed("cannot keep its log"))?;
    }
    sync(folder).map_err(failed("cannot sync its folder"))?;
    let flags = if taken.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    let exchanged = renameat_with(CWD, &kept, CWD, to, flags).map_err(io::Error::from);
    if let Err(error) = exchanged {
        // The names are this command's own, and what they lead to has others: the backup, and the log beside the database.
        let _ = std::fs::remove_file(&kept);
        let _ = std::fs::remove_file(&kept_log);
        return Err(failed("the file system cannot exchange two files")(error));
    }
    placement::drop_kept_log(to).map_err(failed("cannot finish; the next start will"))?;
    if has_log {
        std::fs::rename(&kept_log, side_file::named(&kept, "-wal")).map_err(failed("cannot name its log"))?;
    }
    sync(folder).map_err(failed("cannot sync its folder"))?;
    Ok(Restored { copied, kept: (taken.is_some() || has_log).then_some(kept) })
}

/// The one name of the database, whose folder is made where it is missing.
fn true_name(path: &Path) -> io::Result<PathBuf> {
    if let Ok(found) = path.canonicalize() {
        return Ok(found);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(folder.canonicalize()?.join(name))
}

/// That no process has the database open. A server says so in a file of its own; what else has it open holds a lock on it, as SQLite
/// does while a connection lives. The lock is kept until the handle is dropped; `None` where there is no database.
fn unused(path: &Path) -> Result<Option<File>, RestoreError> {
    let io = |doing: &'static str| {
        let path = path.display().to_string();
        move |error: io::Error| RestoreError::Io { path, doing, error }
    };
    if let Some(process) = process::living(path).map_err(io("cannot list its folder"))?.first() {
        return Err(RestoreError::InUse(process.to_string()));
    }
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("cannot open it")(error)),
    };
    match rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => {
            Err(RestoreError::InUse("another program".to_owned()))
        }
        Err(error) => Err(io("cannot lock it")(error.into())),
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
