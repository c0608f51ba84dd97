//! Checks what lies beside a database file before SQLite opens it. SQLite applies a rollback journal silently, and a
//! connection that cannot write skips what the server's would apply.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::side_file;
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::process;
use crate::sqlite::write::queue::WriteQueue;

/// How often a reader looks again while a server gives the file its log, which takes milliseconds.
const LOOKS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// The first bytes of a journal (SQLite's file format, section 3).
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// What the switch to a log changes in the first page: the two version numbers, the change counter and the version that
/// wrote it (section 1.3).
const CHANGED_BY_SWITCH: [std::ops::Range<usize>; 3] = [18..20, 24..28, 92..100];

/// Files that SQLite and Colibri open beside a database, besides those that processes lock.
const SIDE_FILES: [&str; 4] = ["-journal", "-wal", "-shm", ".queue"];

/// Checks that no pipe or device has the name of a file beside the database: opening one may wait without end. A name that leads
/// nowhere is left to the code that opens it.
///
/// # Errors
/// [`OpenError::NoFile`].
pub(crate) fn beside_are_files(file: &Path) -> Result<(), OpenError> {
    let named = SIDE_FILES.map(|suffix| side_file::named(file, suffix));
    // A folder that cannot be listed says nothing of the database.
    for path in named.into_iter().chain(process::lock_files(file).unwrap_or_default()) {
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(OpenError::NoFile { path: path.display().to_string() });
        }
    }
    Ok(())
}

/// Checks that a reader sees what a server would see.
///
/// # Errors
/// [`OpenError::Journal`], [`OpenError::NoFile`].
pub(crate) fn before_reading(file: &Path) -> Result<(), OpenError> {
    beside_are_files(file)?;
    for look in 1..=LOOKS {
        match journal_bytes(file)? {
            0 => return Ok(()),
            bytes if keeps_log(file)? => {
                if look == LOOKS {
                    return Err(journal(file, bytes));
                }
                std::thread::sleep(PAUSE);
            }
            // Without a log the journal is the file's own, and SQLite knows whether it has to be applied.
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// Checks that SQLite would change nothing but what a server left unfinished. Waits no longer than `wait` for its turn.
///
/// # Errors
/// [`OpenError::Journal`], [`OpenError::NoFile`], or the operating system's error.
pub(crate) fn before_writing(file: &Path, wait: Duration) -> Result<(), OpenError> {
    beside_are_files(file)?;
    if journal_bytes(file)? == 0 {
        return Ok(());
    }
    // A server that gives the file its log holds the queue while it does so.
    let mut queue = WriteQueue::open(file).map_err(|error| unreadable(file, &error))?;
    queue.enter(wait).map_err(|error| unreadable(file, &error))?;
    let bytes = journal_bytes(file)?;
    if bytes == 0 || !keeps_log(file)? || cut_off_switch(file).map_err(|error| unreadable(file, &error))? {
        return Ok(());
    }
    Err(journal(file, bytes))
}

/// Returns the refusal of a file whose journal SQLite could not apply on a connection that cannot write.
pub(crate) fn unfinished(file: &Path) -> Option<OpenError> {
    match journal_bytes(file) {
        Ok(0) => None,
        Ok(bytes) => Some(OpenError::Unfinished { journal: journal_name(file), bytes }),
        Err(error) => Some(error),
    }
}

/// Returns the bytes of the rollback journal; 0 without one. The journal is not opened.
pub(crate) fn journal_bytes(file: &Path) -> Result<u64, OpenError> {
    match std::fs::metadata(side_file::named(file, "-journal")) {
        Ok(found) => Ok(found.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// Checks whether the header says that the file keeps a write-ahead log. Called before this process has a connection to the
/// file: closing another handle on it later would drop SQLite's locks.
pub(crate) fn keeps_log(file: &Path) -> Result<bool, OpenError> {
    let versions = || {
        let mut header = [0; 20];
        File::open(file)?.read_exact(&mut header)?;
        Ok::<_, io::Error>([header[18], header[19]])
    };
    match versions() {
        Ok(versions) => Ok(versions.contains(&2)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(unreadable(file, &error)),
    }
}

/// Checks whether the journal undoes the switch to a log and nothing else. A server that is killed at that moment leaves one
/// beside a new file or a restored backup.
fn cut_off_switch(file: &Path) -> io::Result<bool> {
    let mut journal = File::open(side_file::named(file, "-journal"))?;
    let mut header = [0; 28];
    if journal.read_exact(&mut header).is_err() || header[..8] != JOURNAL_MAGIC {
        return Ok(false);
    }
    let number = |at: usize| u64::from(u32::from_be_bytes([0, 1, 2, 3].map(|byte| header[at + byte])));
    let (records, pages, sector, page_size) = (number(8), number(16), number(20), number(24));
    let length = file.metadata()?.len();
    if !(512..=65_536).contains(&page_size) || !(512..=65_536).contains(&sector) {
        return Ok(false);
    }
    if pages == 0 {
        // The file was being made and holds nothing but its first page.
        return Ok(length <= page_size);
    }
    let one_record = records == 1 && journal.metadata()?.len() == sector + page_size + 8;
    if !one_record || length != pages * page_size {
        return Ok(false);
    }
    let mut record = vec![0; 4 + page_size as usize];
    journal.seek(SeekFrom::Start(sector))?;
    journal.read_exact(&mut record)?;
    let (number, mut before) = (record[..4].to_vec(), record[4..].to_vec());
    let mut now = vec![0; page_size as usize];
    File::open(file)?.read_exact(&mut now)?;
    for range in CHANGED_BY_SWITCH {
        before[range.clone()].fill(0);
        now[range].fill(0);
    }
    Ok(number == [0, 0, 0, 1] && before == now)
}

fn journal(file: &Path, bytes: u64) -> OpenError {
    OpenError::Journal { journal: journal_name(file), bytes }
}

fn journal_name(file: &Path) -> String {
    side_file::named(file, "-journal").display().to_string()
}

fn unreadable(file: &Path, error: &io::Error) -> OpenError {
    OpenError::from_io(file, "cannot look at the journal beside it", error)
}
