//! An event of a task's history, and what a task's birth says of its past (tasks#history).

use super::state::TASK_STATES;
use crate::catalogue::{TaskEventKind, TaskStatus};

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number within the task.
    pub event_no: i64,
    /// The call that it tells of.
    pub sequence_no: Option<i64>,
    /// The call that the task's row names from then on.
    pub task_call: Option<i64>,
    /// What happened.
    pub kind: TaskEventKind,
    /// The state before; `None` where a history begins.
    pub from: Option<TaskStatus>,
    /// The state after.
    pub to: TaskStatus,
    /// The time of the change; of claims, the time that they go by.
    pub at: String,
    /// The changed fields, canonical JSON.
    pub changes: String,
    /// Of claims.
    pub claim: Option<ClaimPart>,
}

/// What an event says of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimPart {
    /// The number.
    pub no: i64,
    /// The holder.
    pub agent_id: String,
    /// The end of the lease.
    pub lease_until: String,
}

/// Returns the states that a task left out by being born in a later one.
pub fn skipped(kind: TaskEventKind, born_in: TaskStatus) -> &'static [TaskStatus] {
    if kind != TaskEventKind::Created || matches!(born_in, TaskStatus::Done | TaskStatus::Cancelled) {
        return &[];
    }
    let place = TASK_STATES.iter().position(|state| *state == born_in).unwrap_or_default();
    TASK_STATES.get(..place).unwrap_or_default()
}

/// Returns whether a history that begins so may earn reputation: work that was skipped earns nothing, and a past that is unknown
/// is not held against a task.
pub(crate) fn may_earn(kind: TaskEventKind, born_in: TaskStatus) -> bool {
    match kind {
        TaskEventKind::Created => born_in == TaskStatus::Init,
        TaskEventKind::Migrated => true,
        _ => false,
    }
}
