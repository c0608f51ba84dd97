//! Which file a name leads to.
//!
//! If a server writes on into a file whose name now belongs to another file, it acknowledges calls that are lost. So it
//! remembers what it has opened ([`Place`]) and checks before each reply that the names still lead there.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::side_file;

/// Identifies a file on one machine until the machine restarts: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    /// The device that holds the file.
    pub device: u64,
    /// The file's number on that device.
    pub inode: u64,
}

/// What a lookup of a name returns.
#[derive(Debug, Clone, Copy)]
struct Seen {
    id: FileId,
    bytes: u64,
}

/// Returns the file that has the name `path`.
///
/// # Errors
/// The operating system's error, for instance that no file has the name.
pub fn file_id(path: &Path) -> io::Result<FileId> {
    look(path).map(|seen| seen.id)
}

/// Why no more calls can be acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Displaced {
    /// The name of a file leads elsewhere, or nowhere.
    #[error(
        "the {0} was replaced, renamed or removed while this server had it open; this call may be stored or not, and calls \
         acknowledged before are in the file that had the name and in the -wal file of that name, which belong together. Stop every server on this database before the next start"
    )]
    Moved(Part),
    /// The database file is shorter than before.
    #[error(
        "the {0} was cut short by another program while this server had it open. Stop every server on this database and \
         run `colibri verify` before the next start"
    )]
    Cut(Part),
}

/// One of the three files of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The database file itself.
    Database,
    /// SQLite's write-ahead log, `-wal`.
    Log,
    /// SQLite's index of the log, `-shm`.
    Index,
}

impl std::fmt::Display for Part {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Database => "database file",
            Self::Log => "database's -wal file",
            Self::Index => "database's -shm file",
        })
    }
}

/// The three files of an open database, as their names led to them when it was opened.
#[derive(Debug)]
pub struct Place {
    folder: File,
    path: PathBuf,
    parts: [(Part, PathBuf, FileId); 3],
    /// The path as the server was given it, where symbolic links on it could be changed to lead elsewhere.
    given: Option<PathBuf>,
    /// How long the database file was at the last check. It shrinks only if another program has compacted it.
    bytes: AtomicU64,
}

impl Place {
    /// Remembers the files of the database at `path`, which is absolute and without symbolic links; `given` is the server's path
    /// to it. Call it when SQLite has opened all three, and while no other program is expected to replace them.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn of(path: &Path, given: &Path) -> io::Result<Self> {
        let given = std::path::absolute(given)?;
        let folder = File::open(path.parent().unwrap_or(Path::new("/")))?;
        let database = look(path)?;
        let beside = |part: Part, suffix: &str| {
            let path = side_file::named(path, suffix);
            let id = file_id(&path)?;
            Ok::<_, io::Error>((part, path.file_name().map(PathBuf::from).unwrap_or_default(), id))
        };
        Ok(Self {
            folder,
            path: path.to_owned(),
            parts: [
                (Part::Database, path.to_owned(), database.id),
                beside(Part::Log, "-wal")?,
                beside(Part::Index, "-shm")?,
            ],
            given: (given != path).then_some(given),
            bytes: AtomicU64::new(database.bytes),
        })
    }

    /// Returns the database file.
    pub fn file(&self) -> FileId {
        self.parts[0].2
    }

    /// Checks that the three names still lead to the files that were opened, and that the database file has kept its length.
    ///
    /// `pages_need` is called only if the file is shorter than at the last check: it returns how many bytes the pages need.
    ///
    /// # Errors
    /// [`Displaced`], for the first file that is missing or replaced.
    pub fn check(&self, pages_need: impl FnOnce() -> Option<u64>) -> Result<(), Displaced> {
        let (bytes, before) = (self.names()?, self.bytes.load(Ordering::Relaxed));
        if bytes < before && pages_need().is_none_or(|needed| bytes < needed) {
            return Err(Displaced::Cut(Part::Database));
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Checks that the three names still lead to the files that were opened; returns how long the database file is.
    ///
    /// # Errors
    /// [`Displaced`], for the first that leads elsewhere.
    pub fn names(&self) -> Result<u64, Displaced> {
        let mut bytes = 0;
        for (part, name, known) in &self.parts {
            // The database is looked up by its whole path, so that a replaced folder is noticed. The other
            // two are then in the open folder, and found by a shorter way.
            let seen = match part {
                Part::Database => look(name),
                _ => look_beside(&self.folder, &self.path, name),
            };
            match seen {
                Ok(seen) if seen.id == *known && *part == Part::Database => bytes = seen.bytes,
                Ok(seen) if seen.id == *known => {}
                _ => return Err(Displaced::Moved(*part)),
            }
        }
        let leads_here = |given: &PathBuf| look(given).is_ok_and(|seen| seen.id == self.file());
        if !self.given.iter().all(leads_here) {
            return Err(Displaced::Moved(Part::Database));
        }
        Ok(bytes)
    }
}

/// Looks up the file that has the name `path`.
///
/// On Linux it asks for neither times nor anything else. Reading a file's times makes the kernel record the time of the next
/// change exactly. That is one more block to write with every sync, a third of its duration (multigrain timestamps, Linux 6.13).
#[cfg(target_os = "linux")]
fn look(path: &Path) -> io::Result<Seen> {
    look_from(rustix::fs::CWD, path).unwrap_or_else(|| look_by_metadata(path))
}

/// Looks up the file that has the name `name` in the folder of the database at `path`.
#[cfg(target_os = "linux")]
fn look_beside(folder: &File, path: &Path, name: &Path) -> io::Result<Seen> {
    look_from(folder, name).unwrap_or_else(|| look_by_metadata(&path.with_file_name(name)))
}

/// Looks a name up by the system call; `None` if a sandbox does not know the call.
#[cfg(target_os = "linux")]
fn look_from(folder: impl std::os::fd::AsFd, name: &Path) -> Option<io::Result<Seen>> {
    use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
    match statx(folder, name, AtFlags::empty(), StatxFlags::INO | StatxFlags::SIZE) {
        Ok(found) => {
            let device = makedev(found.stx_dev_major, found.stx_dev_minor);
            Some(Ok(Seen { id: FileId { device, inode: found.stx_ino }, bytes: found.stx_size }))
        }
        Err(rustix::io::Errno::NOSYS) => None,
        Err(error) => Some(Err(error.into())),
    }
}

#[cfg(not(target_os = "linux"))]
fn look(path: &Path) -> io::Result<Seen> {
    look_by_metadata(path)
}

#[cfg(not(target_os = "linux"))]
fn look_beside(_: &File, path: &Path, name: &Path) -> io::Result<Seen> {
    look_by_metadata(&path.with_file_name(name))
}

#[cfg(unix)]
fn look_by_metadata(path: &Path) -> io::Result<Seen> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path)?;
    Ok(Seen { id: FileId { device: found.dev(), inode: found.ino() }, bytes: found.len() })
}

/// Without inodes: an open file cannot be replaced on such systems, so one identity fits all.
#[cfg(not(unix))]
fn look_by_metadata(path: &Path) -> io::Result<Seen> {
    Ok(Seen { id: FileId { device: 0, inode: 0 }, bytes: std::fs::metadata(path)?.len() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf, Place) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.db");
        for suffix in ["", "-wal", "-shm"] {
            std::fs::write(side_file::named(&path, suffix), b"content").unwrap();
        }
        let place = Place::of(&path, &path).unwrap();
        (folder, path, place)
    }

    #[test]
    fn files_that_are_where_they_were_pass() {
        let (_folder, path, place) = place();
        assert_eq!(place.check(|| None), Ok(()));
        std::fs::write(side_file::named(&path, "-wal"), b"").unwrap();
        assert_eq!(place.check(|| None), Ok(()), "SQLite cuts its log itself");
    }

    #[test]
    fn each_file_that_is_replaced_or_removed_is_named() {
        for (suffix, part) in [("", Part::Database), ("-wal", Part::Log), ("-shm", Part::Index)] {
            let (folder, path, place) = place();
            let name = side_file::named(&path, suffix);
            let other = folder.path().join("other");
            std::fs::write(&other, b"content").unwrap();
            std::fs::rename(&other, &name).unwrap();
            assert_eq!(place.check(|| None), Err(Displaced::Moved(part)));
            std::fs::remove_file(&name).unwrap();
            assert_eq!(place.check(|| None), Err(Displaced::Moved(part)));
        }
    }

    #[test]
    fn a_folder_that_is_exchanged_is_noticed() {
        let (folder, path, place) = place();
        let away = folder.path().with_extension("away");
        std::fs::rename(path.parent().unwrap(), &away).unwrap();
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        for suffix in ["", "-wal", "-shm"] {
            std::fs::write(side_file::named(&path, suffix), b"content").unwrap();
        }
        assert_eq!(place.check(|| None), Err(Displaced::Moved(Part::Database)));
        std::fs::remove_dir_all(&away).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_is_changed_to_lead_elsewhere_is_noticed() {
        let (folder, path, _) = place();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(path.parent().unwrap(), &link).unwrap();
        let place = Place::of(&path, &link.join("a.db")).unwrap();
        assert_eq!(place.check(|| None), Ok(()));
        std::fs::remove_file(&link).unwrap();
        assert_eq!(place.check(|| None), Err(Displaced::Moved(Part::Database)));
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).unwrap();
        assert_eq!(place.check(|| None), Err(Displaced::Moved(Part::Database)));
    }

    #[test]
    fn a_shorter_file_passes_only_where_its_pages_need_no_more() {
        let (_folder, path, place) = place();
        std::fs::write(&path, b"cont").unwrap();
        assert_eq!(place.check(|| Some(4)), Ok(()), "compacted");
        std::fs::write(&path, b"co").unwrap();
        assert_eq!(place.check(|| Some(4)), Err(Displaced::Cut(Part::Database)));
    }
}
