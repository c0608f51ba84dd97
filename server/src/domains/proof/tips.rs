//! Chain tips that seals recorded (proof#tree-head). A walk along a chain compares it with them.

use colibri_runtime::handler::Fault;

use super::store::{self, SealedTip};
use colibri_proof::head::ChainTip;
use colibri_store::db::Db;

/// Returns the tips that the seal of a session recorded; empty for an open one.
///
/// # Errors
/// [`Fault::Storage`].
pub fn tips_of_seal(db: &Db, session_id: &str) -> Result<Vec<ChainTip>, Fault> {
    match store::head_of(db, session_id)? {
        Some(head) => store::tips_at(db, head.head.head_index),
        None => Ok(Vec::new()),
    }
}

/// Returns the next tip of a task's chain after a length and a head, shortest first. Serves a walk along many chains
/// at once that keeps one tip of each.
///
/// # Errors
/// [`Fault::Storage`].
pub fn tip_of_task_after(db: &Db, task_id: &str, after: (i64, i64)) -> Result<Option<SealedTip>, Fault> {
    Ok(store::tips_of_task_after(db, task_id, after, 1)?.pop())
}
