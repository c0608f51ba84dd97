//! How a database looks from outside: which files its names lead to, and when they were written to. A reader that waits for a change
//! holds nothing open meanwhile, so it is not in the way when a server folds the log in, replaces a file or ends.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::side_file;
use crate::sqlite::open::identity::{FileId, file_id};

/// How long after a change another one certainly shows: longer than a step of the clock that the kernel stamps files with.
const STEP: Duration = Duration::from_millis(50);
/// The same for a file system that keeps no parts of a second.
const LONG_STEP: Duration = Duration::from_millis(2_100);

/// The database file and its log. Two looks are equal as long as neither was written to or replaced, as far as the file system notes
/// the time: two changes within one of its steps may look like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    file: Stamp,
    /// The log, which comes and goes with the servers.
    log: Option<Stamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    id: FileId,
    bytes: u64,
    written: Option<SystemTime>,
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let found = std::fs::metadata(path)?;
        Ok(Self { id: file_id(path)?, bytes: found.len(), written: found.modified().ok() })
    }

    /// Returns how long it takes until each change to come shows; `None` without a time.
    fn settles_in(&self, now: SystemTime) -> Option<Duration> {
        let written = self.written?;
        let is_whole = written.duration_since(UNIX_EPOCH).is_ok_and(|since| since.subsec_nanos() == 0);
        let step = if is_whole { LONG_STEP } else { STEP };
        // A clock that was set back stamps the next change with an earlier time: that shows, too.
        let since = now.duration_since(written).unwrap_or_else(|ahead| ahead.duration());
        Some(step.saturating_sub(since))
    }
}

impl Outside {
    /// Looks at the database at `path`.
    ///
    /// # Errors
    /// The operating system's error, for instance that there is no such file.
    pub fn of(path: &Path) -> io::Result<Self> {
        // The log lies beside the file that a link leads to.
        let path = path.canonicalize()?;
        Ok(Self { file: Stamp::of(&path)?, log: Stamp::of(&side_file::named(&path, "-wal")).ok() })
    }

    /// Returns whether the database has a log.
    pub(crate) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Returns how long it takes until each change to come makes a later look differ. `None` if the file system notes no times.
    pub(crate) fn settles_in(&self) -> Option<Duration> {
        let now = SystemTime::now();
        let log = self.log.as_ref().map_or(Some(Duration::ZERO), |log| log.settles_in(now));
        self.file.settles_in(now).zip(log).map(|(file, log)| file.max(log))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use rusqlite::Connection;

    use super::Outside;

    #[test]
    fn each_commit_shows_from_outside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let conn = Connection::open(&path).unwrap();
        conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
        conn.execute_batch("CREATE TABLE t (n)").unwrap();
        let mut before = Outside::of(&path).unwrap();
        assert_eq!(Outside::of(&path).unwrap(), before);
        for step in ["INSERT INTO t VALUES (1)", "PRAGMA wal_checkpoint(RESTART)", "INSERT INTO t VALUES (2)"]
        {
            // Longer than a step of the clock of any file system that tests run on.
            std::thread::sleep(Duration::from_millis(30));
            conn.execute_batch(step).unwrap();
            let after = Outside::of(&path).unwrap();
            assert_ne!(after, before, "{step}");
            before = after;
        }
        std::fs::rename(&path, folder.path().join("b.db")).unwrap();
        assert!(Outside::of(&path).is_err());
    }
}
