//! What the blocked tasks of the queue wait for (tasks#queue), and the way out where the wait would never end.
//!
//! Only `DONE` satisfies a dependency. One that was cancelled or deleted holds its task until an agent decides, so the
//! reply offers that decision as a call. Nothing is dropped by itself.

use std::collections::HashMap;

use colibri_runtime::handler::Fault;

use super::input::QueueFilter;
use super::store;
use crate::catalogue::{
    BlockedTask, BlockedTaskNextItem, BlockedTaskNextItemArguments, BlockedTaskWaitingForItem,
    BlockedTaskWaitingForItemReason as Reason, BriefTask, TaskStatus, ToolId,
};
use colibri_store::db::Db;

/// The most prerequisites that are shown of a task.
const MOST_SHOWN: usize = 8;

/// Returns the first blocked tasks of the queue, most urgent first. Without `may_update` no call is offered, since the
/// server would refuse it.
///
/// # Errors
/// Storage faults.
pub fn blocked(db: &Db, filter: &QueueFilter, may_update: bool) -> Result<Vec<BlockedTask>, Fault> {
    let tasks = store::blocked(db, filter)?;
    let mut by_task: HashMap<String, Vec<(BriefTask, bool)>> = HashMap::new();
    for (task_id, prerequisite, deleted) in store::prerequisites(db, &tasks)? {
        by_task.entry(task_id).or_default().push((prerequisite, deleted));
    }
    let waits = |task: BriefTask| {
        let prerequisites = by_task.remove(&task.id).unwrap_or_default();
        waiting(task, prerequisites, may_update)
    };
    Ok(tasks.into_iter().map(waits).collect())
}

/// Says what a task waits for.
fn waiting(task: BriefTask, prerequisites: Vec<(BriefTask, bool)>, may_update: bool) -> BlockedTask {
    let (mut waiting_for, mut kept, mut waiting_count, mut hopeless) = (Vec::new(), Vec::new(), 0, false);
    for (prerequisite, deleted) in prerequisites {
        let reason = reason(prerequisite.status, deleted);
        if matches!(reason, None | Some(Reason::NotDone)) {
            kept.push(prerequisite.id.clone());
        } else {
            hopeless = true;
        }
        let Some(reason) = reason else { continue };
        waiting_count += 1;
        if waiting_for.len() < MOST_SHOWN {
            let BriefTask { id, title, status, .. } = prerequisite;
            waiting_for.push(BlockedTaskWaitingForItem { id, title, status, reason });
        }
    }
    let tool = ToolId::TaskUpdate.name();
    let drop_them = || BlockedTaskNextItem {
        tool: tool.to_owned(),
        arguments: BlockedTaskNextItemArguments { id: task.id.clone(), depends_on: kept },
    };
    BlockedTask {
        next: (hopeless && may_update).then(|| vec![drop_them()]),
        remedy: hopeless
            .then(|| format!("Drop the dependency with {tool}, or create the missing work anew.")),
        id: task.id,
        title: task.title,
        status: task.status,
        priority: task.priority,
        waiting_for,
        waiting_count,
    }
}

/// Returns why a prerequisite does not satisfy; `None` if it does.
fn reason(status: TaskStatus, deleted: bool) -> Option<Reason> {
    match (status, deleted) {
        (TaskStatus::Done, _) => None,
        (_, true) => Some(Reason::Deleted),
        (TaskStatus::Cancelled, false) => Some(Reason::Cancelled),
        (_, false) => Some(Reason::NotDone),
    }
}
