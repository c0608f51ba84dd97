//! Who is alive: each process that writes holds an operating-system lock on a small file of its own
//! beside the database (store#process-locks). The system frees the lock when the process dies.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use colibri_runtime::kernel::Ids;
use serde::{Deserialize, Serialize};

use crate::private_file;
use crate::side_file;
use crate::sqlite::open::identity::FileId;
use colibri_canonical::HexDigest;
use colibri_proof::bounded_file;

/// The most that is read of a lock file: a record is far shorter.
const RECORD_BYTES: u64 = 4096;

/// How much of the boot id's digest names the lock file.
const NAME_HEX: usize = 32;

/// Makes a process's name in the log: a fresh UUID v4, after `<session>:` if `COLIBRI_SESSION_ID` is set.
/// Several processes may inherit one session id, so it cannot be the name alone.
pub fn boot_id(session: Option<&str>, ids: &mut dyn Ids) -> String {
    let fresh = ids.v4();
    session.map_or_else(|| fresh.clone(), |session| format!("{session}:{fresh}"))
}

/// Returns the path of the lock file of the process `boot_id` on the database at `path`.
pub(crate) fn lock_path(path: &Path, boot_id: &str) -> PathBuf {
    side_file::named(path, &format!(".{}.lock", &HexDigest::of(boot_id.as_bytes()).as_str()[..NAME_HEX]))
}

/// What a process says of itself in its lock file, as one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Its number, in the process table of its own machine or container.
    pub pid: u32,
    /// The name of that machine or container.
    pub host: String,
    /// The database file that it has open.
    pub file: FileId,
}

impl ProcessRecord {
    /// Makes this process's record for when it opens `file`.
    pub fn own(file: FileId) -> Self {
        Self { pid: std::process::id(), host: host(), file }
    }
}

impl fmt::Display for ProcessRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} on host {}", self.pid, self.host)
    }
}

/// Returns the kernel's name of this machine or container.
pub fn host() -> String {
    #[cfg(unix)]
    {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }
    #[cfg(not(unix))]
    {
        "this machine".to_owned()
    }
}

/// How much of the list of users is read.
#[cfg(unix)]
const USERS_BYTES: u64 = 1 << 20;

/// Returns the name of the user whose process this is, or `uid:<n>`. The environment is not asked, because anyone can set it.
pub fn os_user() -> String {
    #[cfg(unix)]
    {
        let uid = rustix::process::getuid().as_raw();
        let mut users = Vec::new();
        let read = File::open("/etc/passwd").and_then(|file| file.take(USERS_BYTES).read_to_end(&mut users));
        let users = read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&users).into_owned());
        user_of(&users, uid).map_or_else(|| format!("uid:{uid}"), str::to_owned)
    }
    #[cfg(not(unix))]
    {
        "unknown".to_owned()
    }
}

/// Finds a user in the text of `/etc/passwd`.
#[cfg(unix)]
fn user_of(users: &str, uid: u32) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == uid).then_some(name)
    })
}

/// Returns the records of the live processes on the database at `path`, this one included. Processes of version 0.1.0
/// write no record and are not listed.
///
/// # Errors
/// The folder cannot be read.
pub fn living(path: &Path) -> io::Result<Vec<ProcessRecord>> {
    let files = lock_files(path)?;
    Ok(files
        .iter()
        .filter(|file| matches!(life(file), Life::Alive))
        .filter_map(|file| record(file))
        .collect())
}

/// Finds a live process whose file had the name `path` before, while `here` has it now.
///
/// # Errors
/// The folder cannot be read.
pub fn elsewhere(path: &Path, here: FileId) -> io::Result<Option<ProcessRecord>> {
    let files = lock_files(path)?;
    // Its lock is tried last: during the try, a start that looks for dead processes takes the process for a live one.
    Ok(files.iter().find_map(|file| {
        record(file).filter(|record| record.file != here).filter(|_| matches!(life(file), Life::Alive))
    }))
}

/// Reads the record of one lock file; `None` if it is missing or this version does not understand it.
fn record(lock_file: &Path) -> Option<ProcessRecord> {
    let mut text = String::new();
    bounded_file::open(lock_file).ok()?.take(RECORD_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// This process's sign of life. A crash drops it without [`ProcessLock::remove`].
#[derive(Debug)]
pub struct ProcessLock {
    path: PathBuf,
    _file: File,
}

impl ProcessLock {
    /// Creates and locks the file, and writes `record` into it. Call it inside `BEGIN IMMEDIATE`, so that no sweep
    /// sees the file before it is locked.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn create(path: &Path, boot_id: &str, record: &ProcessRecord) -> io::Result<Self> {
        let path = lock_path(path, boot_id);
        let mut file = private_file::open_or_create(&path)?;
        // Waits, since a boot that looks for dead processes holds each lock for a moment.
        file.lock()?;
        file.write_all(serde_json::to_string(record)?.as_bytes())?;
        Ok(Self { path, _file: file })
    }

    /// Removes the file at a clean stop, inside `BEGIN IMMEDIATE`.
    ///
    /// # Errors
    /// The operating system's error. The lock is freed nevertheless, and a later boot removes the file.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// What the lock file of another process says about it.
#[derive(Debug)]
pub enum Life {
    /// The lock is held, or the file could not be tried: in doubt the process counts as alive.
    Alive,
    /// No file: never started on this database, or stopped cleanly.
    Gone,
    /// The lock was free. This process holds it while the handle lives.
    Dead(File),
}

impl Life {
    /// Checks whether the process's rows may be closed.
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self, Self::Alive)
    }
}

/// Tries a lock file without waiting.
pub fn life(lock_file: &Path) -> Life {
    match bounded_file::open(lock_file) {
        Ok(file) => match file.try_lock() {
            Ok(()) => Life::Dead(file),
            Err(_) => Life::Alive,
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Life::Gone,
        Err(_) => Life::Alive,
    }
}

/// Lists the lock files of all processes beside the database at `path`.
///
/// # Errors
/// The folder cannot be read.
pub fn lock_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let middle = entry.file_name().to_str().and_then(|other| {
            Some(other.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".lock")?.to_owned())
        });
        if middle
            .is_some_and(|middle| middle.len() == NAME_HEX && middle.bytes().all(|b| b.is_ascii_hexdigit()))
        {
            found.push(entry.path());
        }
    }
    Ok(found)
}
