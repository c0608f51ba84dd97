//! The SQL of verification: the places of records.

use colibri_runtime::handler::Fault;

use crate::domains::ties::Place;
use colibri_store::db::Db;
use colibri_store::params;

/// Returns a record's place and the call it names.
///
/// # Errors
/// [`Fault::Storage`].
pub fn place(db: &Db, key: &str) -> Result<Option<Place>, Fault> {
    db.query_opt("SELECT seq, sequence_no FROM thought_records WHERE id = ?1", params![key], |row| {
        Ok(Place { number: Some(row.get(0)?), sequence_no: row.get(1)? })
    })
}

/// Counts the records by their numbering, which is dense. SQLite would count all rows one by one.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_records(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT coalesce(max(seq), 0) FROM thought_records", &[], |row| row.get(0))
}
