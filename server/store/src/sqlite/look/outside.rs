//! How a database looks from outside: which files its names lead to, and when they were written to. A reader that waits for a change
//! holds nothing open meanwhile, so it is not in the way when a server folds the log in, replaces a file or ends.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::side_file;
use crate::sqlite::open::identity::{FileId, file_id};

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
