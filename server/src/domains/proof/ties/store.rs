//! The SQL of verification: sessions and seals with the calls they name.

use colibri_runtime::handler::Fault;

use crate::domains::ties::Place;
use colibri_store::db::Db;
use colibri_store::params;
use colibri_store::walk::Stop;

/// Hands over the key and the call of each session, in the order in which they were opened.
pub(super) fn each_session(
    db: &Db,
    take: impl FnMut(&str, Option<i64>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    each(db, "SELECT session_id, sequence_no FROM audit_sessions ORDER BY rowid", take)
}

/// Hands over the key and the call of each seal, in the order in which they were made.
pub(super) fn each_root(
    db: &Db,
    take: impl FnMut(&str, Option<i64>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    each(db, "SELECT session_id, sequence_no FROM merkle_roots ORDER BY rowid", take)
}

fn each(db: &Db, sql: &str, mut take: impl FnMut(&str, Option<i64>) -> Result<(), Stop>) -> Result<(), Stop> {
    db.walk(sql, &[], |row| {
        let key: String = row.get(0).map_err(Fault::from)?;
        take(&key, row.get(1).map_err(Fault::from)?)?;
        Ok(true)
    })
}

/// Returns the call that a session names.
pub(super) fn session_place(db: &Db, key: &str) -> Result<Option<Place>, Fault> {
    place(db, "SELECT sequence_no FROM audit_sessions WHERE session_id = ?1", key)
}

/// Returns the call that a seal names.
pub(super) fn root_place(db: &Db, key: &str) -> Result<Option<Place>, Fault> {
    place(db, "SELECT sequence_no FROM merkle_roots WHERE session_id = ?1", key)
}

fn place(db: &Db, sql: &str, key: &str) -> Result<Option<Place>, Fault> {
    db.query_opt(sql, params![key], |row| Ok(Place { number: None, sequence_no: row.get(0)? }))
}

/// Returns the stored hash of a tree head; `None` if the head does not exist.
///
/// # Errors
/// [`Fault::Storage`].
pub fn head_hash_at(db: &Db, head_index: i64) -> Result<Option<String>, Fault> {
    db.query_opt("SELECT head_hash FROM tree_heads WHERE head_index = ?1", params![head_index], |row| {
        row.get(0)
    })
}
