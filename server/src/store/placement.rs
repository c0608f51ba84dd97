//! Whether a database file may be opened where it lies: under its one name, with the log that belongs to it, and while no
//! process works on an earlier file of that name. Looked at before SQLite opens anything, since SQLite would apply
//! whatever log stands beside the file.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use colibri_runtime::chain::store::Access;
use serde::{Deserialize, Serialize};

use super::creation::UNFINISHED;
use super::error::OpenError;
use super::identity::{FileId, file_id};
use super::queue::WriteQueue;
use super::{network_fs, process, side_file};

/// Which log belongs to which database file: one line of JSON in the queue file, written by each start that finds another one
/// there. Without numbers of devices, which may change when the machine is started again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pair {
    database: Born,
    log: Born,
}

/// A file, told apart also from a later one that was given the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Born {
    inode: u64,
    /// When it was created, in nanoseconds since 1970; 0 where the file system does not say.
    born_ns: u64,
}

impl Born {
    fn of(found: &Metadata) -> Self {
        let since = found.created().ok().and_then(|created| created.duration_since(UNIX_EPOCH).ok());
        Self {
            inode: inode(found),
            born_ns: since.and_then(|since| since.as_nanos().try_into().ok()).unwrap_or(0),
        }
    }
}

impl Pair {
    /// The database at `path` and the log beside it, both of which are there.
    fn of(path: &Path) -> io::Result<Self> {
        let born = |path: &Path| std::fs::metadata(path).map(|found| Born::of(&found));
        Ok(Self { database: born(path)?, log: born(&side_file::named(path, "-wal"))? })
    }
}

/// Refuses a file that SQLite must not be let near; which file it is. `path` is the file's one true name, `shown` what the user calls it.
///
/// # Errors
/// [`OpenError::Names`], [`OpenError::Mounted`], [`OpenError::Elsewhere`], [`OpenError::StrayLog`], [`OpenError::HalfRestored`],
/// [`OpenError::KeptJournal`].
pub(super) fn check(path: &Path, shown: &Path, access: Access) -> Result<FileId, OpenError> {
    let text = || shown.display().to_string();
    let io = |error: io::Error| OpenError::from_io(shown, "cannot look at it", &error);
    let found = std::fs::metadata(path).map_err(io)?;
    let names = links(&found);
    if found.is_file() && names > 1 && !is_just_created(path) {
        return Err(OpenError::Names { path: text(), names });
    }
    if network_fs::is_mount_point(path) {
        return Err(OpenError::Mounted { path: text() });
    }
    let here = file_id(path).map_err(io)?;
    // Where the folder cannot be listed, no process of this user works in it.
    if let Some(process) = process::elsewhere(path, here).unwrap_or_default() {
        return Err(OpenError::Elsewhere { path: text(), process: process.to_string() });
    }
    if log_is_stray(path) {
        match (is_kept_elsewhere(path, "-wal"), access) {
            (false, _) => return Err(OpenError::StrayLog { path: text() }),
            (true, Access::Read) => return Err(OpenError::HalfRestored { path: text() }),
            (true, Access::Write) => drop_kept_log(path).map_err(io)?,
        }
    }
    if is_kept_elsewhere(path, "-journal") {
        return Err(OpenError::KeptJournal { path: text() });
    }
    Ok(here)
}

/// Whether the second name is the one under which the file was made, which the next start removes.
fn is_just_created(path: &Path) -> bool {
    let made_as = file_id(&side_file::named(path, UNFINISHED));
    made_as.is_ok_and(|made| file_id(path).is_ok_and(|here| here == made))
}

/// That the file which was looked at is the one that was opened.
///
/// # Errors
/// [`OpenError::Replaced`].
pub(super) fn unchanged(found: FileId, shown: &Path) -> Result<(), OpenError> {
    if file_id(shown).is_ok_and(|now| now == found) {
        Ok(())
    } else {
        Err(OpenError::Replaced { path: shown.display().to_string() })
    }
}

/// Whether the log beside the file holds something, and was last seen beside another file. Where both have changed they were
/// copied or moved together, and belong together as before.
fn log_is_stray(path: &Path) -> bool {
    let log = side_file::named(path, "-wal");
    if std::fs::metadata(log).map_or(0, |found| found.len()) == 0 {
        return false;
    }
    match (WriteQueue::read_note(path), Pair::of(path)) {
        (Some(known), Ok(found)) => known.log == found.log && known.database != found.database,
        _ => false,
    }
}

/// Whether a file beside the database has a second name, as `colibri restore` gives it one before it puts another file in the
/// database's place.
fn is_kept_elsewhere(path: &Path, suffix: &str) -> bool {
    std::fs::metadata(side_file::named(path, suffix)).is_ok_and(|found| links(&found) > 1)
}

/// Takes away the name of a log that is kept under a second one, and that of its index, which SQLite makes anew.
///
/// # Errors
/// The operating system's.
pub(super) fn drop_kept_log(path: &Path) -> io::Result<()> {
    if is_kept_elsewhere(path, "-wal") {
        remove(path, "-wal")?;
        remove(path, "-shm")?;
    }
    Ok(())
}

/// Takes away the name of a rollback journal that is kept under a second one.
///
/// # Errors
/// The operating system's.
pub(super) fn drop_kept_journal(path: &Path) -> io::Result<()> {
    if is_kept_elsewhere(path, "-journal") { remove(path, "-journal") } else { Ok(()) }
}

fn remove(path: &Path, suffix: &str) -> io::Result<()> {
    match std::fs::remove_file(side_file::named(path, suffix)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Notes which log belongs to the file, unless that is known.
///
/// # Errors
/// The operating system's.
pub(super) fn note(queue: &mut WriteQueue, path: &Path) -> io::Result<()> {
    let found = Pair::of(path)?;
    if WriteQueue::read_note(path).as_ref() == Some(&found) { Ok(()) } else { queue.write_note(&found) }
}

#[cfg(unix)]
fn inode(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// How many names the file has.
#[cfg(unix)]
fn links(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}
