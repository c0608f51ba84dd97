//! Why a database could not be opened. Each of these errors ends the boot (store#opening, chain#start-failure), so the
//! texts name the file and, if possible, the way out.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::db::sqlite::handle::reason;

/// A right on a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Of a file: read it.
    Read,
    /// Of a file: read and write it.
    ReadAndWrite,
    /// Of a folder: put files into it.
    Create,
}

impl Right {
    /// Returns what a process without the right may not do.
    fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadAndWrite => "read and write",
            Self::Create => "write files in",
        }
    }

    /// Returns what to do about it.
    fn remedy(self) -> &'static str {
        match self {
            Self::Read => "let the server's user read it",
            Self::ReadAndWrite => "let the server's user write it, or set COLIBRI_MODE to READONLY",
            Self::Create => "let the server's user write the folder, or set COLIBRI_DB_PATH to another",
        }
    }
}

/// A failure of [`crate::sqlite::open::init_db`]. The texts are published (store#opening).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Written by a later release.
    #[error("database schema version {found} is newer than supported version {supported}")]
    Newer {
        /// The file's `user_version`.
        found: i64,
        /// The highest compiled-in migration.
        supported: i64,
    },
    /// Another program's file.
    #[error("not a Colibri database: {path}")]
    Foreign {
        /// The path as it was given.
        path: String,
    },
    /// The file system or the build has no write-ahead log.
    #[error("failed to enable WAL journal mode (got {got})")]
    NotWal {
        /// SQLite's answer.
        got: String,
    },
    /// Damaged.
    #[error("database integrity check failed: {first}")]
    Corrupt {
        /// First line of the finding.
        first: String,
    },
    /// Another program held the lock longer than the busy timeout.
    #[error("database is locked: {path}")]
    Locked {
        /// The path as it was given.
        path: String,
    },
    /// A migration's SQL failed, or the compiled-in list is inconsistent.
    #[error("migration {name} failed: {reason}")]
    Migration {
        /// `NNN_name`.
        name: String,
        /// SQLite's text.
        reason: String,
    },
    /// READONLY, and the file is missing.
    #[error("database not found: {path} (READONLY never creates a database)")]
    Missing {
        /// The path as it was given.
        path: String,
    },
    /// READONLY, and the file needs migrations.
    #[error("database schema version {found} is older than {latest}; READONLY cannot migrate")]
    Older {
        /// The file's `user_version`.
        found: i64,
        /// The highest compiled-in migration.
        latest: i64,
    },
    /// A journal that SQLite would apply to a file that it does not belong to.
    #[error(
        "a rollback journal of {bytes} bytes lies at {journal}, and the database beside it keeps a write-ahead log: SQLite \
         would apply the journal and change what the database says. Move the database and all files beside it to another \
         folder together, then restore a backup, or open them there with the program that left the journal"
    )]
    Journal {
        /// The journal's path.
        journal: String,
        /// Its length.
        bytes: u64,
    },
    /// A pipe, a device or a folder with the name of a file beside the database.
    #[error(
        "{path} is not a regular file, and stands where a file of the database belongs; find out what has put it there, move \
         it to another folder, and try again"
    )]
    NoFile {
        /// What is there.
        path: String,
    },
    /// A write that was cut off, and a connection that cannot undo it.
    #[error(
        "a write was cut off: {journal} ({bytes} bytes) undoes it, which needs a connection that may write. Start a server in \
         FULL on the database, or let the program that left the journal open it; then run this again"
    )]
    Unfinished {
        /// The journal's path.
        journal: String,
        /// Its length.
        bytes: u64,
    },
    /// SQLite's locks and shared memory do not work across machines (store#network-file-systems).
    #[error(
        "database is on a {kind}: {path}; put it on a local disk (in a container, a named volume) and set COLIBRI_DB_PATH to it"
    )]
    Network {
        /// The path as it was given.
        path: String,
        /// What it is, with the name that the kernel has for it.
        kind: String,
    },
    /// A log that SQLite would read into any database at that path, and no database that it belongs to.
    #[error(
        "{side} is the log of a database that is not at {path} any more, and may hold acknowledged calls; put that \
         database back beside it, or move the log to another folder, and start again"
    )]
    Orphan {
        /// Where the database is to be.
        path: String,
        /// The log's path.
        side: String,
    },
    /// Each name of a file would get a log and locks of its own, and calls under the other name would be lost.
    #[error(
        "database {path} has {names} names (hard links), and servers under different names would not see each other's calls; \
         use a copy made with `colibri backup`, or a symbolic link in place of the hard link"
    )]
    Names {
        /// The path as it was given.
        path: String,
        /// How many names the file has.
        names: u64,
    },
    /// The log would lie beside the mount point, where no other process finds it.
    #[error(
        "database {path} is itself a mount point (a bind mount of the single file), so that its log would stay outside; \
         mount the directory that holds it instead"
    )]
    Mounted {
        /// The path as it was given.
        path: String,
    },
    /// A process has the file open that had the name before.
    #[error(
        "{process} still has another file open that had the name {path} before; stop that process, then start again. To \
         put a backup in place, use `colibri restore`"
    )]
    Elsewhere {
        /// The path as it was given.
        path: String,
        /// Which process it is.
        process: String,
    },
    /// The file that was checked is not the file that was opened.
    #[error("database {path} was replaced while it was being opened; start again")]
    Replaced {
        /// The path as it was given.
        path: String,
    },
    /// SQLite would mix the pages of two databases.
    #[error(
        "the log {path}-wal belongs to another file that had the name {path} before, and holds calls of it. Put that file \
         back; or, to go on with the present one, rename it and run `colibri restore` with its new name, which keeps the log"
    )]
    StrayLog {
        /// The path as it was given.
        path: String,
    },
    /// A restore was killed just before its end. Readers change nothing, so they cannot finish it.
    #[error(
        "a restore of {path} was interrupted; start a server on it, which finishes the restore, then try again"
    )]
    HalfRestored {
        /// The path as it was given.
        path: String,
    },
    /// A restore was killed while the replaced file's journal had two names: only another restore knows which file it belongs to.
    #[error(
        "a restore of {path} was interrupted, and the journal {path}-journal of the replaced file still has two names; run \
         `colibri restore` with the backup again, which keeps every file"
    )]
    KeptJournal {
        /// The path as it was given.
        path: String,
    },
    /// This process lacks a right on the file, on one beside it, or on their folder.
    #[error("cannot open database {path}: this process may not {} {target}: {reason}; {}", .right.verb(), .right.remedy())]
    Denied {
        /// The path as it was given.
        path: String,
        /// What is refused.
        target: String,
        /// The right that is missing.
        right: Right,
        /// The operating system's reason.
        reason: String,
    },
    /// The path is relative, and this process may not write in its working directory, which the host chose: often `/`.
    #[error(
        "cannot open database {path}: the path begins at the working directory {folder}, where this process may not write \
         files: {reason}; set COLIBRI_DB_PATH to an absolute path"
    )]
    WorkingFolder {
        /// The path as it was given.
        path: String,
        /// The working directory.
        folder: String,
        /// The operating system's reason.
        reason: String,
    },
    /// The names of the files next to the database would be too long.
    #[error(
        "cannot open database {path}: its name has {bytes} bytes, and the files beside it need names that are {beside} bytes longer, \
         where the system allows {most}; give it a name of at most {} bytes", .most - .beside
    )]
    LongName {
        /// The path as it was given.
        path: String,
        /// How long the file's name is.
        bytes: usize,
        /// How much longer than the database's the longest of these names is.
        beside: usize,
        /// How long a name may be.
        most: usize,
    },
    /// A file stands where the folder of the database would be.
    #[error(
        "cannot open database {path}: {target} is not a folder, and the database is to be in it; move it away, or set \
         COLIBRI_DB_PATH to a file in another folder"
    )]
    NoFolder {
        /// The path as it was given.
        path: String,
        /// What stands there.
        target: String,
    },
    /// This process cannot share the log, and a server writes all the time.
    #[error(
        "cannot open database {path}: this process may not use the files of its log (-wal, -shm), and a server changed the \
         database during each attempt to copy it. Try again when the server is less busy, or run the command as the file's owner"
    )]
    Unquiet {
        /// The path as it was given.
        path: String,
    },
    /// This process cannot share the log, and has no place for a copy.
    #[error(
        "cannot open database {path}: this process may not create the files of its log (-wal, -shm) beside it, and cannot make \
         a private copy of {mib} MiB in {folder} ({reason}); set TMPDIR to a folder with that much space"
    )]
    NotCopied {
        /// The path as it was given.
        path: String,
        /// Where the copy would be.
        folder: String,
        /// How much space it needs.
        mib: u64,
        /// The operating system's reason.
        reason: String,
    },
    /// The operating system or SQLite refused.
    #[error("cannot open database {path}: {reason}")]
    Unusable {
        /// The path as it was given.
        path: String,
        /// What was refused.
        reason: String,
    },
}

impl OpenError {
    /// Maps an error of SQLite to a row of the table.
    pub(crate) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.display().to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            // Most likely the path is wrong; a damaged first page looks the same.
            Some(ErrorCode::NotADatabase) => Self::Foreign { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Corrupt { first: reason(error) },
            _ => Self::Unusable { path, reason: reason(error) },
        }
    }

    /// Turns a refusal of the operating system into an error.
    pub(crate) fn from_io(path: &Path, doing: &str, error: &std::io::Error) -> Self {
        Self::Unusable { path: path.display().to_string(), reason: format!("{doing}: {error}") }
    }
}
