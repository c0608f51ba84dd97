//! Whose file it is: read from the header before anything is written (store#header), so that a
//! refused file keeps its bytes.

use std::path::Path;

use rusqlite::Connection;

use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::migrate::user_version;

/// `CLBR`, in the header of every Colibri database (store#header).
pub const APPLICATION_ID: i64 = 0x434C_4252;

/// What the header says of a file that was not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// 0 or [`APPLICATION_ID`].
    pub application_id: i64,
    /// The schema version.
    pub user_version: i64,
}

/// Reads the header and refuses files that are not Colibri's, or of a later release.
///
/// # Errors
/// [`OpenError::Newer`], [`OpenError::Foreign`], or SQLite's error.
pub(crate) fn read(conn: &Connection, path: &Path, supported: i64) -> Result<Header, OpenError> {
    let engine = |error: rusqlite::Error| OpenError::from_sqlite(path, &error);
    // All is read at one moment: another process may be migrating the file.
    let _snapshot = conn.unchecked_transaction().map_err(engine)?;
    let application_id = conn.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(engine)?;
    let user_version = user_version(conn).map_err(engine)?;
    let header = Header { application_id, user_version };
    admit(header, false, path, supported)?;
    // Also the first read of the schema: a damaged one fails here.
    let tables: i64 = conn
        .query_row(
            "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
            [],
            |row| row.get(0),
        )
        .map_err(engine)?;
    admit(header, tables > 0, path, supported)?;
    Ok(header)
}

/// Refuses a header that is not Colibri's or is of a later release. `has_tables` says whether the file holds any.
///
/// # Errors
/// [`OpenError::Newer`], [`OpenError::Foreign`].
pub(crate) fn admit(header: Header, has_tables: bool, path: &Path, supported: i64) -> Result<(), OpenError> {
    let Header { application_id, user_version: found } = header;
    let is_foreign = application_id != 0 && application_id != APPLICATION_ID || found == 0 && has_tables;
    if is_foreign {
        Err(OpenError::Foreign { path: path.display().to_string() })
    } else if found > supported {
        Err(OpenError::Newer { found, supported })
    } else {
        Ok(())
    }
}
