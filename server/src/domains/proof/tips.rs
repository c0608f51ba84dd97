//! Chain tips that seals recorded (proof#tree-head). A walk along a chain compares it with them.

use colibri_runtime::handler::Fault;

use super::store::{self, SealedTip};
use crate::store::db::Db;
use colibri_proof::head::ChainTip;

/// Tips read at once.
const PAGE: i64 = 128;

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

/// Returns all tips that seals recorded of one task's chain, shortest first, so that a walk along the chain meets
/// them in its own order. Reads page by page, because many seals may cover a chain.
pub fn each_tip_of_task<'a>(db: &'a Db, task_id: &'a str) -> TaskTips<'a> {
    TaskTips { db, task_id, page: Vec::new().into_iter(), next: Some((i64::MIN, i64::MIN)) }
}

/// Returns the next tip of a task's chain after a length and a head, shortest first. Serves a walk along many chains
/// at once that keeps one tip of each.
///
/// # Errors
/// [`Fault::Storage`].
pub fn tip_of_task_after(db: &Db, task_id: &str, after: (i64, i64)) -> Result<Option<SealedTip>, Fault> {
    Ok(store::tips_of_task_after(db, task_id, after, 1)?.pop())
}

/// See [`each_tip_of_task`].
pub struct TaskTips<'a> {
    db: &'a Db,
    task_id: &'a str,
    page: std::vec::IntoIter<SealedTip>,
    /// Length and head of the last tip read; `None` after the last page.
    next: Option<(i64, i64)>,
}

impl TaskTips<'_> {
    /// Returns the next tip; `None` after the last one.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    #[allow(clippy::should_implement_trait)] // An iterator's `next` cannot fail.
    pub fn next(&mut self) -> Result<Option<SealedTip>, Fault> {
        if let Some(tip) = self.page.next() {
            return Ok(Some(tip));
        }
        let Some(after) = self.next else { return Ok(None) };
        let page = store::tips_of_task_after(self.db, self.task_id, after, PAGE)?;
        self.next = page.last().map(|tip| (tip.tip.chain_length, tip.head_index));
        self.page = page.into_iter();
        Ok(self.page.next())
    }
}
