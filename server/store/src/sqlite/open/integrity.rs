//! How much of a file is checked at boot (store#integrity): always the ends of its
//! chains; every page only after an unclean stop, and only while that takes moments.

use std::path::Path;

use colibri_runtime::handler::Fault;
use rusqlite::Connection;

use crate::db::Db;
use crate::db::sqlite::handle::storage;
use crate::log::verify;
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::sweep;

/// The largest file whose every page is checked at boot, in bytes. Larger ones are left to `colibri doctor`.
const FULL_CHECK_BYTES: i64 = 64 << 20;

/// A domain's check of the last records of its own chains: returns the first finding, one sentence. It runs
/// before the migrations, so its tables may not exist yet.
pub type TailCheck = fn(&Db) -> Result<Option<String>, Fault>;

/// Checks the file before anything is written to it. `beside` is the path whose lock files show
/// dead processes; `None` for a database without lock files.
///
/// # Errors
/// [`OpenError::Corrupt`] with the first finding, or SQLite's error.
pub(crate) fn check(
    db: &Db,
    path: &Path,
    beside: Option<&Path>,
    tails: &[TailCheck],
) -> Result<(), OpenError> {
    let engine = |error: rusqlite::Error| OpenError::from_sqlite(path, &error);
    // Heads and rows are read at one moment: during a READONLY start others may be writing.
    let conn = db.sqlite().map_err(engine)?;
    let _snapshot = conn.unchecked_transaction().map_err(engine)?;
    if sweep::was_unclean(conn, beside).map_err(engine)? && bytes(conn).map_err(engine)? <= FULL_CHECK_BYTES {
        let answer: String =
            conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(engine)?;
        if answer != "ok" {
            return Err(OpenError::Corrupt { first: answer.lines().next().unwrap_or_default().to_owned() });
        }
    }
    ends(db, tails)
}

/// Checks the end of the log of calls, and the ends that `tails` check.
///
/// # Errors
/// [`OpenError::Corrupt`] with the first finding.
pub(crate) fn ends(db: &Db, tails: &[TailCheck]) -> Result<(), OpenError> {
    for tail in [actions_tail as TailCheck].iter().chain(tails) {
        let finding = tail(db).map_err(|fault| OpenError::Corrupt { first: fault.to_string() })?;
        if let Some(first) = finding {
            return Err(OpenError::Corrupt { first });
        }
    }
    Ok(())
}

/// Checks the end of the log of calls.
fn actions_tail(db: &Db) -> Result<Option<String>, Fault> {
    if !db.sqlite().and_then(|conn| conn.table_exists(None, "actions")).map_err(storage)? {
        return Ok(None);
    }
    Ok(verify::verify_tail(db)?.map(|finding| finding.to_string()))
}

fn bytes(conn: &Connection) -> rusqlite::Result<i64> {
    let pages: i64 = conn.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let size: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    Ok(pages.saturating_mul(size))
}
