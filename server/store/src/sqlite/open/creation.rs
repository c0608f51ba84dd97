//! A new database is completed under another name beside its place and synced. Then it is moved to its place without
//! replacing anything. So no reader and no other start ever sees an unfinished one, and neither a kill nor a power cut
//! leaves a file that is not a database.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::private_file;
use crate::side_file;
use crate::sqlite::open::connection::{self, Location};
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::header::APPLICATION_ID;
use crate::sqlite::open::migrate::{self, Migration};
use crate::sqlite::write::log_file;
use crate::sqlite::write::queue::WriteQueue;

/// The page size of a new database; one that exists keeps its own. A call changes one row at the end of each of some ten
/// b-trees, and the log takes the whole page of each: half of SQLite's usual page is a sixth less time without sync, and
/// a smaller sync. Yet smaller pages gain little and make the trees deeper.
pub(crate) const PAGE_BYTES: u32 = 2048;

/// What a new database is called after its own name until it is whole. Only the process whose turn it is in the write
/// queue makes such a file: if the next one in the queue finds one, its creator has died.
pub const UNFINISHED: &str = ".creation.new";

/// The two bytes of the header that say whether a database has a write-ahead log, and what they say then
/// (<https://www.sqlite.org/fileformat2.html>, section 1.3.3).
const FORMAT_VERSIONS: std::ops::RangeInclusive<usize> = 18..=19;
const HAS_LOG: u8 = 2;

/// What lies at the place of a database.
enum Found {
    Nothing,
    /// A file without content, and the mode that it has.
    Empty(Permissions),
    Something,
}

/// Makes sure that a file with content exists at `file`, a path without symbolic links; returns how many migrations a new
/// one has got. `path` is for messages. Waits no longer than `wait` for its turn.
///
/// # Errors
/// If the file or its side files cannot be created, a migration fails, or a log without its database lies there.
pub(crate) fn create_if_missing(
    file: &Path,
    path: &Path,
    migrations: &[Migration],
    wait: Duration,
) -> Result<usize, OpenError> {
    let io = |error: io::Error| OpenError::from_io(path, "cannot create it", &error);
    if let Found::Something = look(file).map_err(io)? {
        return Ok(0);
    }
    let mut queue = WriteQueue::open(file).map_err(io)?;
    queue.enter(wait).map_err(io)?;
    // Another start may have had its turn before and created it.
    let mode = match look(file).map_err(io)? {
        Found::Something => return Ok(0),
        Found::Nothing => None,
        Found::Empty(mode) => Some(mode),
    };
    if mode.is_some() {
        // The journal of an empty file belongs to its first transaction; applying it could only make the file empty again.
        remove(&side_file::named(file, "-journal")).map_err(io)?;
    }
    refuse_orphan(file, path)?;
    let (image, migrated) = whole(migrations, path)?;
    remove_unfinished(file).map_err(io)?;
    let placed = write(file, &image, mode.as_ref()).and_then(|new| place(&new, file, mode.is_some()));
    if placed.is_err() {
        // If it cannot be removed, the next creator does it.
        let _ = remove_unfinished(file);
    }
    let migrated = match placed {
        Ok(()) => migrated,
        // Another program created a file first. The start finds out from its header which program.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => 0,
        // A container may mount a single file, whose name cannot be changed: the start fills it as it lies there.
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy && mode.is_some() => 0,
        Err(error) => return Err(io(error)),
    };
    log_file::sync_directory(file).map_err(io)?;
    Ok(migrated)
}

/// Removes what a dead creator left. Only the process whose turn it is in the write queue may call it.
///
/// # Errors
/// The operating system's error.
pub(crate) fn remove_unfinished(file: &Path) -> io::Result<()> {
    remove(&side_file::named(file, UNFINISHED))
}

/// Removes a file if it exists.
fn remove(file: &Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn look(file: &Path) -> io::Result<Found> {
    match std::fs::metadata(file) {
        Ok(found) if found.is_file() && found.len() == 0 => Ok(Found::Empty(found.permissions())),
        Ok(_) => Ok(Found::Something),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(error),
    }
}

/// Refuses the place of a missing database if a log or journal lies beside it. SQLite would read it into a new one. It may hold
/// acknowledged calls of a database that was moved away, so it is not removed either.
pub(crate) fn refuse_orphan(file: &Path, path: &Path) -> Result<(), OpenError> {
    let has_content = |side: &PathBuf| std::fs::metadata(side).is_ok_and(|found| found.len() > 0);
    let sides = ["-wal", "-journal"].map(|suffix| side_file::named(file, suffix));
    match sides.into_iter().find(has_content) {
        Some(side) => {
            let (path, side) = (path.display().to_string(), side.display().to_string());
            Err(OpenError::Orphan { path, side })
        }
        None => Ok(()),
    }
}

/// Returns the bytes of a new database, and the number of its migrations. It is made in memory, where nothing need be synced.
fn whole(migrations: &[Migration], path: &Path) -> Result<(Vec<u8>, usize), OpenError> {
    let engine = |error: rusqlite::Error| OpenError::from_sqlite(path, &error);
    let mut conn = connection::read_write(&Location::Memory).map_err(engine)?;
    connection::settle(&conn).map_err(engine)?;
    conn.pragma_update(None, "page_size", PAGE_BYTES).map_err(engine)?;
    conn.pragma_update(None, "application_id", APPLICATION_ID).map_err(engine)?;
    let migrated = migrate::migrate(&conn, migrations, path)?;
    let mut image = conn.serialize("main").map_err(engine)?.to_vec();
    for byte in image.get_mut(FORMAT_VERSIONS).into_iter().flatten() {
        *byte = HAS_LOG;
    }
    Ok((image, migrated))
}

/// Writes and syncs the new database under its other name, which it returns.
fn write(file: &Path, image: &[u8], mode: Option<&Permissions>) -> io::Result<PathBuf> {
    let new = side_file::named(file, UNFINISHED);
    let mut out = private_file::create_new(&new)?;
    if let Some(mode) = mode {
        out.set_permissions(mode.clone())?;
    }
    out.write_all(image)?;
    out.sync_all()?;
    Ok(new)
}

/// Gives the new database its name. Only an empty file is replaced: SQLite lets no connection that still has it open
/// write to a file without a name.
fn place(new: &Path, file: &Path, replace_empty: bool) -> io::Result<()> {
    if replace_empty {
        return std::fs::rename(new, file);
    }
    match private_file::move_new(new, file) {
        // Not every file system can do it. Two names for a moment work as well: a start removes the other one.
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            std::fs::hard_link(new, file)?;
            std::fs::remove_file(new)
        }
        done => done,
    }
}
