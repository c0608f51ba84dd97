//! Puts a backup in the place of a database, and keeps what was there.
//!
//! The new file is completed and synced beside the old one. Then one system call exchanges their names, so that a kill at
//! any point leaves either the old database, complete with its log, or the new one. The old log, or a rollback journal, gets a
//! second name before and loses its first one afterwards. A start that finds the log under both names drops the first. A
//! journal under two names may still belong to the old database, so nothing opens it until the restore was run again
//! (`placement`).

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::db::Db;
use crate::side_file;
use crate::sqlite::look::backup::{BackupError, Copied, Unnamed, copy};
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::placement::{self, BESIDE, REPLACED};
use crate::sqlite::open::preflight;
use crate::sqlite::open::process;
use crate::sqlite::write::queue::WriteQueue;
use crate::store::PATIENCE;

/// Why a backup was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A process works on the database.
    #[error("{0} has the database open; stop it, then run the command again")]
    InUse(String),
    /// A pipe, device or folder has the name of a file beside the database.
    #[error("{0}")]
    Beside(#[from] OpenError),
    /// A step failed. Before the exchange of names the database is unchanged; after it, the next start finishes the restore.
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
    #[error("{error}; {state}")]
    Copy {
        /// Why.
        error: BackupError,
        /// What is in its place.
        state: &'static str,
    },
}

/// What was done.
#[derive(Debug)]
pub struct Restored {
    /// How many pages the database has now.
    pub copied: Copied,
    /// Where the replaced file lies, if one was replaced, and then the files that lay beside it.
    pub kept: Vec<PathBuf>,
}

/// Replaces the database at `to` by a copy of `from`. Old files are renamed to `<to>.replaced-<stamp>`.
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
    preflight::beside_are_files(to)?;
    let folder = to.parent().unwrap_or(Path::new("/"));
    let mut queue = WriteQueue::open(to).map_err(failed("cannot open its write queue"))?;
    queue.enter(PATIENCE).map_err(failed("cannot enter its write queue"))?;
    let taken = unused(to)?;
    let kept = side_file::named(to, &format!("{REPLACED}{stamp}"));
    let copied = copy(from, &kept, progress).and_then(Unnamed::name).map_err(|error| RestoreError::Copy {
        error: error.of(to),
        state: if taken.is_some() { "the database is unchanged" } else { "there is still no database" },
    })?;
    let beside: Vec<_> =
        BESIDE.into_iter().filter(|(suffix, _)| side_file::named(to, suffix).exists()).collect();
    if taken.is_some() && side_file::named(to, "-wal").exists() {
        placement::note_if_none(&mut queue, to).map_err(failed("cannot note which log is its own"))?;
    }
    let flags = if taken.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    let exchanged = keep(to, &kept, &beside)
        .and_then(|()| sync(folder))
        .map_err(failed("cannot keep what lies beside it"))
        .and_then(|()| {
            renameat_with(CWD, &kept, CWD, to, flags)
                .map_err(|error| failed("the file system cannot exchange two files")(error.into()))
        });
    if let Err(error) = exchanged {
        // Only this command uses these names. Their files have other names: the backup, and the files beside the database.
        let _ = std::fs::remove_file(&kept);
        for (_, until) in beside {
            let _ = std::fs::remove_file(side_file::named(&kept, until));
        }
        return Err(error);
    }
    let mut all: Vec<PathBuf> = taken.iter().map(|_| kept.clone()).collect();
    all.extend(placement::hand_over(to, &kept).map_err(failed("cannot finish; run the command again"))?);
    sync(folder).map_err(failed("cannot sync its folder"))?;
    Ok(Restored { copied, kept: all })
}

/// Gives the files beside the database a second name beside `kept`.
fn keep(to: &Path, kept: &Path, beside: &[(&str, &str)]) -> io::Result<()> {
    beside.iter().try_for_each(|(suffix, until)| {
        std::fs::hard_link(side_file::named(to, suffix), side_file::named(kept, until))
    })
}

/// Returns the one name of the database, and creates its folder if it is missing.
fn true_name(path: &Path) -> io::Result<PathBuf> {
    if let Ok(found) = path.canonicalize() {
        return Ok(found);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(folder.canonicalize()?.join(name))
}

/// Checks that no process has the database open. A server says so in a file of its own; other programs hold a lock on it, as
/// SQLite does while a connection lives. The lock is kept until the handle is dropped; `None` if the database is missing.
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
