//! Where the database is: a file of SQLite, or a database of PostgreSQL that several machines share (chain#configuration).

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use colibri_store::sqlite::open::MEMORY;
use colibri_store::{DatabaseUrl, SessionOptions, TlsPolicy};

/// Where a database is. Its text never shows a part of a URL.
#[derive(Debug, Clone)]
pub enum Place {
    /// A file of SQLite, or `:memory:`.
    File(PathBuf),
    /// A database of PostgreSQL.
    Shared(DatabaseUrl),
}

impl Place {
    /// Returns the path of a file; `None` for a shared database.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Shared(_) => None,
        }
    }

    /// Returns whether the database lives in the memory of one process.
    pub(crate) fn is_memory(&self) -> bool {
        self.file() == Some(Path::new(MEMORY))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Shared(_) => f.write_str("the PostgreSQL database"),
        }
    }
}

/// How processes work with a shared database: the settings `COLIBRI_DATABASE_*` beside the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharing {
    /// Whether a server on the network must prove its name.
    pub tls: TlsPolicy,
    /// Milliseconds that a connection and its login may take.
    pub connect_timeout_ms: u32,
    /// Milliseconds that a call may wait for a lock, or for a lost connection to come back.
    pub lock_timeout_ms: u32,
    /// Milliseconds that a statement may run.
    pub statement_timeout_ms: u32,
    /// Seconds after which others close the running calls of a silent process.
    pub lease_seconds: u32,
    /// Where this machine notes the last acknowledged call.
    pub witness_dir: Option<PathBuf>,
}

impl Sharing {
    /// Returns how a server's session is set up.
    pub fn session(&self) -> SessionOptions {
        let time = |ms: u32| Duration::from_millis(u64::from(ms));
        SessionOptions {
            connect: time(self.connect_timeout_ms),
            statement: Some(time(self.statement_timeout_ms)),
            lock: Some(time(self.lock_timeout_ms)),
            ..SessionOptions::default()
        }
    }
}
