//! Where the log of calls ends, for those who commit to it (proof#tree-head): read from the rows themselves. The head's
//! row is written at commit, so inside a transaction it is older than the rows.

use colibri_runtime::handler::Fault;

use crate::db::{Db, Row, RowError, Value};
use crate::params;

/// A closed row of `actions`, as far as a commitment to it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogTip {
    /// Its place among the closed rows, from 1.
    pub exit_no: i64,
    /// Its stored hash.
    pub row_hash: String,
}

/// Returns the last closed row; `None` before the first call is closed.
///
/// # Errors
/// [`Fault::Storage`].
pub fn log_tip(db: &Db) -> Result<Option<LogTip>, Fault> {
    db.query_opt(
        "SELECT exit_no, row_hash FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no DESC LIMIT 1",
        &[],
        read,
    )
}

/// Returns the closed row at a place; `None` if no row has that place.
///
/// # Errors
/// [`Fault::Storage`].
pub fn log_row(db: &Db, exit_no: i64) -> Result<Option<LogTip>, Fault> {
    db.query_opt("SELECT exit_no, row_hash FROM actions WHERE exit_no = ?1", params![exit_no], read)
}

fn read(row: &Row<'_>) -> Result<LogTip, RowError> {
    let row_hash = match row.get(1)? {
        Value::Null => String::new(),
        Value::Text(hash) => hash.to_owned(),
        Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Integer(_) | Value::Real(_) => return Err(RowError),
    };
    Ok(LogTip { exit_no: row.get(0)?, row_hash })
}
