//! The trail's SQL.

use colibri_runtime::handler::Fault;

use crate::store::db::Db;

/// How many thought records a task has: of any type, session and retention zone (zeta §10). A task
/// that does not exist has none.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_thoughts(db: &Db, task_id: &str) -> Result<i64, Fault> {
    db.query_one("SELECT count(*) FROM thought_records WHERE task_id = ?1", [task_id], |row| row.get(0))
}
