//! A database that was copied without its log. The newest calls of an open database are in the log, and nothing in the file says so.

use std::fmt;
use std::path::Path;

use colibri_proof::bounded_file;

use crate::side_file;
use crate::sqlite::open::placement;
use crate::sqlite::open::preflight;

/// Why calls may be missing from a file that keeps a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogGap {
    /// The file has no log.
    NoLog,
    /// The log has no bytes.
    EmptyLog,
}

impl LogGap {
    /// Says what is known of the file.
    pub fn what(self) -> &'static str {
        match self {
            Self::NoLog => {
                "no log (-wal file) lies next to it: it is complete only if no server had the database open when it was copied"
            }
            Self::EmptyLog => {
                "the log (-wal file) next to it is empty: it is complete only if no server had the database open when it was copied, or \
                 the server's log was empty, too"
            }
        }
    }

    /// Says how a complete copy is made.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NoLog => "Copy the -wal file together with it",
            Self::EmptyLog => "Copy the -wal file of the original again, unless it is empty",
        }
    }
}

impl fmt::Display for LogGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.what(), self.advice())
    }
}

/// Returns why calls may be missing from a file: it keeps a log, which is missing or empty, and it is not where its last server left
/// it. Called before SQLite opens the file: a reader can leave an empty log.
pub(crate) fn log_gap(path: &Path) -> Option<LogGap> {
    let path = path.canonicalize().ok()?;
    let log = std::fs::metadata(side_file::named(&path, "-wal")).ok().map(|found| found.len());
    if log.is_some_and(|bytes| bytes > 0) || !path.is_file() || !preflight::keeps_log(&path).unwrap_or(false)
    {
        return None;
    }
    let queue = side_file::named(&path, ".queue");
    // Where a database lies, its last server has emptied the log. Another user may see the file with the note, and not read it.
    let is_hidden = queue.exists() && bounded_file::open(&queue).is_err();
    if is_hidden || placement::is_noted(&path) == Some(true) {
        return None;
    }
    Some(if log.is_some() { LogGap::EmptyLog } else { LogGap::NoLog })
}
