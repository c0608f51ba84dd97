//! A reader that cannot share a database's log reads a private copy (store#read-only). SQLite shares a log through two files next to
//! the database, which it must be able to create, or to read where a server has created them. Another user's folder, a read-only mount
//! and a read-only medium refuse that. The copy is in a temporary folder that this user alone can read.
//!
//! A copy counts only if neither file was written to or replaced while it was made. The copied pair is then what a power cut at that
//! moment would have left, from which SQLite reads every commit.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::private_file;
use crate::side_file;
use crate::sqlite::look::outside::Outside;
use crate::temporary_folder::TemporaryFolder;

/// Bytes copied between two looks at the file. After a change the rest would be copied in vain.
const AT_ONCE: u64 = 16 << 20;
/// Bytes read at a time.
const BUFFER: usize = 256 << 10;

/// A copy, and what it is a copy of.
#[derive(Debug)]
pub(crate) struct PrivateCopy {
    _folder: TemporaryFolder,
    file: PathBuf,
    source: PathBuf,
    /// How the source looked while it was copied.
    seen: Outside,
}

/// The reason why no copy was made.
pub(crate) enum NotCopied {
    /// A server has written to it during the copy, or may have.
    Changed,
    /// It cannot be read.
    Source,
    /// The copy cannot be written.
    Copy(io::Error),
}

impl PrivateCopy {
    /// Returns the copied database file; its log, if it has one, is next to it.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Checks whether the source has not changed since.
    pub(crate) fn is_current(&self) -> bool {
        Outside::of(&self.source).is_ok_and(|now| now == self.seen)
    }

    /// Copies the database at `source`, which is its one true name, with its log.
    ///
    /// # Errors
    /// See [`NotCopied`].
    pub(crate) fn of(source: &Path) -> Result<Self, NotCopied> {
        let seen = Outside::of(source).map_err(|_| NotCopied::Source)?;
        match seen.settles_in() {
            Some(Duration::ZERO) => {}
            Some(wait) => {
                std::thread::sleep(wait);
                return Err(NotCopied::Changed);
            }
            // Changes would not show.
            None => return Err(NotCopied::Source),
        }
        let folder = TemporaryFolder::create("colibri-copy").map_err(NotCopied::Copy)?;
        let file = folder.path().join("copy.db");
        let copy = Self { _folder: folder, file, source: source.to_owned(), seen };
        copy.fetch(source, &copy.file)?;
        match copy.fetch(&side_file::named(source, "-wal"), &side_file::named(&copy.file, "-wal")) {
            Err(NotCopied::Source) if !copy.seen.has_log() => {}
            fetched => fetched?,
        }
        if copy.is_current() { Ok(copy) } else { Err(NotCopied::Changed) }
    }

    fn fetch(&self, from: &Path, to: &Path) -> Result<(), NotCopied> {
        let mut from = File::open(from).map_err(|_| NotCopied::Source)?;
        let mut to = private_file::create_new(to).map_err(NotCopied::Copy)?;
        let mut buffer = vec![0; BUFFER];
        let mut copied = 0;
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(NotCopied::Source),
            };
            to.write_all(&buffer[..read]).map_err(NotCopied::Copy)?;
            copied += read as u64;
            if copied >= AT_ONCE {
                copied = 0;
                if !self.is_current() {
                    return Err(NotCopied::Changed);
                }
            }
        }
    }
}
