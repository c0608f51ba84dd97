//! SQLite's own counters of rows ever made, one for each table that never reuses a number (`AUTOINCREMENT`). They outlive
//! the rows, so a table whose last rows were removed contradicts its counter.

use colibri_runtime::handler::Fault;

use crate::db::Db;
use crate::params;

/// Returns a table's counters: one number, none before its first row, more only if another program has added rows. `None` if
/// the engine is not SQLite.
///
/// # Errors
/// [`Fault::Storage`].
pub fn counters_of(db: &Db, table: &str) -> Result<Option<Vec<i64>>, Fault> {
    if db.sqlite().is_err() {
        return Ok(None);
    }
    let counters =
        db.query_all("SELECT seq FROM sqlite_sequence WHERE name = ?1 LIMIT 3", params![table], |row| {
            row.get(0)
        })?;
    Ok(Some(counters))
}

/// Returns counters of tables that should have none, a few at most.
///
/// # Errors
/// [`Fault::Storage`].
pub fn stray_counters(db: &Db) -> Result<Vec<String>, Fault> {
    if db.sqlite().is_err() {
        return Ok(Vec::new());
    }
    let sql = "SELECT CAST(name AS TEXT) FROM sqlite_sequence WHERE name IS NULL OR name NOT IN \
               (SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%') LIMIT 3";
    db.query_all(sql, &[], |row| Ok(row.get::<Option<String>>(0)?.unwrap_or_default()))
}
