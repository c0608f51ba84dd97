//! Whether a database file may be opened where it lies: under its one name, with the log that belongs to it, and while no
//! process works on an earlier file of that name. Checked before SQLite opens anything, since SQLite would apply
//! any log that lies beside the file.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use colibri_runtime::chain::store::Access;
use serde::{Deserialize, Serialize};

use crate::side_file;
use crate::sqlite::open::creation::UNFINISHED;
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::identity::{FileId, file_id};
use crate::sqlite::open::network_fs;
use crate::sqlite::open::process;
use crate::sqlite::write::queue::WriteQueue;

/// Which log belongs to which database file: one line of JSON in the queue file. Each start writes it if it finds another one
/// there. Without device numbers, which may change when the machine restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pair {
    database: Born,
    log: Born,
}

/// A file; its creation time tells it from a later one that was given the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Born {
    inode: u64,
    /// When it was created, in nanoseconds since 1970; 0 if the file system does not say.
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
    /// Returns the database at `path` and the log beside it, both of which exist.
    fn of(path: &Path) -> io::Result<Self> {
        let born = |path: &Path| std::fs::metadata(path).map(|found| Born::of(&found));
        Ok(Self { database: born(path)?, log: born(&side_file::named(path, "-wal"))? })
    }
}

/// Refuses a file that SQLite must not open; returns which file it is. `path` is the one true name, `shown` what the user calls it.
///
/// # Errors
/// [`OpenError::Names`], [`OpenError::Mounted`], [`OpenError::Elsewhere`], [`OpenError::StrayLog`], [`OpenError::HalfRestored`],
/// [`OpenError::KeptJournal`].
pub(crate) fn check(path: &Path, shown: &Path, access: Access) -> Result<FileId, OpenError> {
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
        match (kept_for(path), access) {
            (None, _) => return Err(OpenError::StrayLog { path: text() }),
            (Some(_), Access::Read) => return Err(OpenError::HalfRestored { path: text() }),
            (Some(kept), Access::Enter | Access::Write) => drop(hand_over(path, &kept).map_err(io)?),
        }
    }
    if let Some(restored) = is_kept_without_log(path) {
        return Err(OpenError::HalfRestored { path: restored });
    }
    if std::fs::metadata(side_file::named(path, "-journal")).is_ok_and(|found| links(&found) > 1) {
        return Err(OpenError::KeptJournal { path: text() });
    }
    Ok(here)
}

/// Checks whether the second name is the one under which the file was made, which the next start removes.
fn is_just_created(path: &Path) -> bool {
    let made_as = file_id(&side_file::named(path, UNFINISHED));
    made_as.is_ok_and(|made| file_id(path).is_ok_and(|here| here == made))
}

/// Checks that the file which was examined is the one that was opened.
///
/// # Errors
/// [`OpenError::Replaced`].
pub(crate) fn unchanged(found: FileId, shown: &Path) -> Result<(), OpenError> {
    if file_id(shown).is_ok_and(|now| now == found) {
        Ok(())
    } else {
        Err(OpenError::Replaced { path: shown.display().to_string() })
    }
}

/// Checks whether the log beside the file holds something, and was last seen beside another file. If both have changed, they
/// were copied or moved together, and still belong together.
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

/// Checks whether the note of the last start names the file at `path`; `None` without a note that this process can read.
pub(crate) fn is_noted(path: &Path) -> Option<bool> {
    let known = WriteQueue::read_note(path)?;
    Some(std::fs::metadata(path).is_ok_and(|found| known.database == Born::of(&found)))
}

/// What SQLite would apply to a file of the database's name, and how its second name ends while `colibri restore` runs. SQLite
/// does not look for these endings, which matters because the copy has the rest of the name until the exchange.
pub(crate) const BESIDE: [(&str, &str); 2] = [("-wal", "-log"), ("-journal", "-undo")];

/// What a replaced file is called after the database's name; the time follows.
pub(crate) const REPLACED: &str = ".replaced-";

/// Returns the file to which a stray log belongs: a restore was killed after it had exchanged the files, and before it had
/// handed the log over. If the restore had no file to replace, the returned name has no file.
fn kept_for(path: &Path) -> Option<PathBuf> {
    let log = file_id(&side_file::named(path, "-wal")).ok()?;
    let beginning = side_file::named(path, REPLACED).file_name()?.to_str()?.to_owned();
    let (_, until) = BESIDE[0];
    std::fs::read_dir(path.parent()?).ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kept = path.with_file_name(name.strip_suffix(until).filter(|name| name.starts_with(&beginning))?);
        let is_replaced = match std::fs::metadata(&kept) {
            Ok(found) => WriteQueue::read_note(path)?.database == Born::of(&found),
            Err(_) => true,
        };
        (is_replaced && file_id(&entry.path()).ok()? == log).then_some(kept)
    })
}

/// Returns, for a file that a restore has replaced and not yet given its log, the database that was restored.
fn is_kept_without_log(path: &Path) -> Option<String> {
    let (suffix, until) = BESIDE[0];
    let waits = side_file::named(path, until).exists() && !side_file::named(path, suffix).exists();
    path.to_str()?.rsplit_once(REPLACED).filter(|_| waits).map(|(restored, _)| restored.to_owned())
}

/// Gives the files beside the database that have a second name beside `kept` to `kept` alone; returns their names there. The
/// log's index is removed, since SQLite makes it anew.
///
/// # Errors
/// The operating system's error. A later call can do what is left.
pub(crate) fn hand_over(path: &Path, kept: &Path) -> io::Result<Vec<PathBuf>> {
    let mut given = Vec::new();
    for (suffix, until) in BESIDE {
        let (first, second, last) =
            (side_file::named(path, suffix), side_file::named(kept, until), side_file::named(kept, suffix));
        if !second.exists() {
            continue;
        }
        // One step, so that `kept` never appears to have no log.
        std::fs::rename(&first, &last)?;
        std::fs::remove_file(&second)?;
        given.push(last);
    }
    remove(path, "-shm")?;
    Ok(given)
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
/// The operating system's error.
pub(crate) fn note(queue: &mut WriteQueue, path: &Path) -> io::Result<()> {
    let found = Pair::of(path)?;
    if WriteQueue::read_note(path).as_ref() == Some(&found) { Ok(()) } else { queue.write_note(&found) }
}

/// Notes the pair only if nothing was noted: a log that is known to be another file's stays so.
///
/// # Errors
/// The operating system's error.
pub(crate) fn note_if_none(queue: &mut WriteQueue, path: &Path) -> io::Result<()> {
    if WriteQueue::read_note(path).is_none() { note(queue, path) } else { Ok(()) }
}

#[cfg(unix)]
fn inode(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// Returns how many names the file has.
#[cfg(unix)]
fn links(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

#[cfg(not(unix))]
fn links(_: &Metadata) -> u64 {
    1
}
