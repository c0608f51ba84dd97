//! Which process holds up the others: for errors and log lines, never during a call.
//!
//! On Linux the kernel lists the locks of all processes. It gives no process numbers for other containers. There, and
//! on other systems, the live processes on the database are named.

use std::ops::Range;
use std::path::Path;

use crate::side_file;
use crate::sqlite::open::identity::{FileId, file_id};
use crate::sqlite::open::process::{self, ProcessRecord};

/// The byte of the `-shm` file whose lock is SQLite's write lock.
const WRITE_LOCK_BYTE: u64 = 120;
/// The bytes of the database file that SQLite locks for a program that writes without a log, or that excludes all others.
const LOCK_BYTES: Range<u64> = 0x4000_0000..0x4000_0200;

/// How often the kernel's list is read before a lock counts as not listed.
const LOOKS: usize = 8;

/// Names the holder of the lock on the queue file at `queue`.
pub(crate) fn of_queue(queue: &Path) -> String {
    let database = queue.with_extension("");
    named(&database, file_id(queue).ok().and_then(|file| listed("FLOCK", file, 0)))
}

/// Names the holder of SQLite's write lock on the database at `path`.
pub(crate) fn of_write_lock(path: &Path) -> Option<String> {
    let file = file_id(&side_file::named(path, "-shm")).ok()?;
    listed("POSIX", file, WRITE_LOCK_BYTE).map(on_this_host)
}

/// Names the holder of a SQLite lock that lets no other program write to the database at `path`, or even read it. Opens its
/// files for a moment, so this process may have no connection to it: closing them would drop SQLite's locks.
pub(crate) fn of_any_lock(path: &Path) -> Option<String> {
    let log_index = side_file::named(path, "-shm");
    let pid =
        locker(path, LOCK_BYTES).or_else(|| locker(&log_index, WRITE_LOCK_BYTE..WRITE_LOCK_BYTE + 1))?;
    Some(pid.map_or_else(|| "a process outside this container".to_owned(), on_this_host))
}

/// Returns the process that keeps others from reading these bytes, and its number if the kernel gives it.
#[cfg(unix)]
fn locker(file: &Path, bytes: Range<u64>) -> Option<Option<u32>> {
    use rustix::process::{Flock, FlockType, fcntl_getlk};

    let file = colibri_proof::bounded_file::open(file).ok()?;
    let wish =
        Flock { start: bytes.start, length: bytes.end - bytes.start, ..Flock::from(FlockType::ReadLock) };
    let found = fcntl_getlk(&file, &wish).ok()??;
    Some(found.pid.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok()))
}

#[cfg(not(unix))]
fn locker(_: &Path, _: Range<u64>) -> Option<Option<u32>> {
    None
}

fn named(database: &Path, pid: Option<u32>) -> String {
    if let Some(pid) = pid {
        return on_this_host(pid);
    }
    let host = process::host();
    let own = |record: &ProcessRecord| record.pid == std::process::id() && record.host == host;
    let living = process::living(database).unwrap_or_default();
    let others: Vec<String> =
        living.iter().filter(|record| !own(record)).map(ProcessRecord::to_string).collect();
    match others.as_slice() {
        [] => "another process".to_owned(),
        [one] => one.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

fn on_this_host(pid: u32) -> String {
    format!("process {pid} on host {}", process::host())
}

/// Returns the process that holds a lock of that kind on that byte of the file, by the kernel's list. The kernel prints the list
/// page by page, and a page omits a lock if others before it were released meanwhile; a second look finds it.
fn listed(kind: &str, file: FileId, byte: u64) -> Option<u32> {
    (0..LOOKS).find_map(|_| {
        let list = std::fs::read_to_string("/proc/locks").ok()?;
        list.lines().find_map(|line| holder_in(line, kind, file, byte))
    })
}

/// Reads a line like `3: FLOCK  ADVISORY  WRITE 4711 fd:01:131074 0 EOF`. A process that only waits has an arrow before
/// the kind of its lock.
fn holder_in(line: &str, kind: &str, file: FileId, byte: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, found, _, "WRITE", pid, place, first, last] = words.as_slice() else { return None };
    let mut parts = place.split(':');
    let hexadecimal = |part: Option<&str>| u32::from_str_radix(part?, 16).ok();
    let device = device(hexadecimal(parts.next())?, hexadecimal(parts.next())?);
    let inode: u64 = parts.next()?.parse().ok()?;
    let covers = first.parse::<u64>().ok()? <= byte && (*last == "EOF" || byte <= last.parse().ok()?);
    let fits = *found == kind && FileId { device, inode } == file && covers;
    fits.then(|| pid.parse().ok()).flatten()
}

#[cfg(target_os = "linux")]
fn device(major: u32, minor: u32) -> u64 {
    rustix::fs::makedev(major, minor)
}

#[cfg(not(target_os = "linux"))]
fn device(_: u32, _: u32) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_holder_is_read_from_the_kernels_list() {
        let file = FileId { device: device(0xfd, 1), inode: 131_074 };
        let cases = [
            ("3: FLOCK  ADVISORY  WRITE 4711 fd:01:131074 0 EOF", "FLOCK", 0, Some(4711)),
            ("3: -> FLOCK  ADVISORY  WRITE 4712 fd:01:131074 0 EOF", "FLOCK", 0, None),
            ("3: FLOCK  ADVISORY  WRITE 4711 fd:02:131074 0 EOF", "FLOCK", 0, None),
            ("4: POSIX  ADVISORY  WRITE 12 fd:01:131074 120 120", "POSIX", 120, Some(12)),
            ("4: POSIX  ADVISORY  WRITE 12 fd:01:131074 121 121", "POSIX", 120, None),
            ("4: POSIX  ADVISORY  READ 12 fd:01:131074 120 120", "POSIX", 120, None),
            ("4: LEASE  ACTIVE", "FLOCK", 0, None),
        ];
        for (line, kind, byte, holder) in cases {
            if cfg!(target_os = "linux") {
                assert_eq!(holder_in(line, kind, file, byte), holder, "{line}");
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_finds_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db.queue");
        let locked = std::fs::File::create(&path).and_then(|file| file.lock().map(|()| file));
        assert!(locked.is_ok());
        assert!(of_queue(&path).starts_with(&format!("process {} on host ", std::process::id())));
    }
}
