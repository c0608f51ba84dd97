//! A database that was copied without its log. The newest calls of an open database are in the log, and nothing in the file says so.

use std::path::Path;

use colibri_proof::bounded_file;

use crate::side_file;
use crate::sqlite::open::placement;
use crate::sqlite::open::preflight;

/// What a reader says of such a file.
pub const MAY_LACK_LOG: &str = "no log (-wal file) lies next to it: it is complete only if no server had the database open when it was \
                                copied. Copy the -wal file together with it";

/// Checks whether calls may be missing from a file: it keeps a log, none lies next to it, and it is not where its last server left it.
/// Call it before SQLite opens the file.
pub fn may_lack_log(path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let has_log = std::fs::metadata(side_file::named(&path, "-wal")).is_ok_and(|found| found.len() > 0);
    if has_log || !path.is_file() || !preflight::keeps_log(&path).unwrap_or(false) {
        return false;
    }
    let queue = side_file::named(&path, ".queue");
    // Where a database lies, its last server has emptied the log. Another user may see the file with the note, and not read it.
    let is_hidden = queue.exists() && bounded_file::open(&queue).is_err();
    !is_hidden && placement::is_noted(&path) != Some(true)
}
