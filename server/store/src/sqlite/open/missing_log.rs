//! A database that was copied without its log. The newest calls of an open database are in the log, and nothing in the file says so.

use std::path::Path;

use colibri_proof::bounded_file;

use crate::db::LogGap;
use crate::side_file;
use crate::sqlite::open::placement;
use crate::sqlite::open::preflight;

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
