//! The engine's refusals, and their only conversion into a tool's declared errors.

use colibri_runtime::handler::Failure;

use super::state::{self, InvalidTransition};
use crate::catalogue::{TaskCreateError, TaskGetError, TaskHistoryError, TaskUpdateError};

/// The fields that a task needs before it may be finished.
pub const WRITEBACK_FIELDS: [&str; 1] = ["thought_record"];

/// No live task has that id; unknown, malformed and deleted ids look the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("There is no task {task_id}")]
pub struct TaskNotFound {
    /// The id as it was given.
    pub task_id: String,
}

/// An attempt to finish a task without a trace of its work (tasks#writeback-gate).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Task {task_id} needs a thought record before it can be DONE")]
pub struct WritebackRequired {
    /// The task.
    pub task_id: String,
    /// The missing fields: [`WRITEBACK_FIELDS`].
    pub missing_fields: Vec<String>,
}

impl WritebackRequired {
    /// Makes the refusal for an existing task.
    pub fn of(task_id: &str) -> Self {
        Self { task_id: task_id.to_owned(), missing_fields: missing_fields() }
    }
}

fn missing_fields() -> Vec<String> {
    WRITEBACK_FIELDS.map(str::to_owned).to_vec()
}

/// Refuses to create a finished task, which has no id yet to name.
pub(super) fn born_finished() -> TaskCreateError {
    TaskCreateError::ErrWritebackRequired { task_id: None, missing_fields: missing_fields() }
}

/// Widens a refusal to a larger error type; faults pass through.
pub(super) fn widen<A, B: From<A>>(failure: Failure<A>) -> Failure<B> {
    match failure {
        Failure::Domain(refusal) => Failure::Domain(refusal.into()),
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}

impl From<TaskNotFound> for TaskGetError {
    fn from(refusal: TaskNotFound) -> Self {
        Self::ErrNotFound { task_id: refusal.task_id }
    }
}

impl From<TaskNotFound> for TaskHistoryError {
    fn from(refusal: TaskNotFound) -> Self {
        Self::ErrNotFound { task_id: refusal.task_id }
    }
}

impl From<TaskNotFound> for TaskUpdateError {
    fn from(refusal: TaskNotFound) -> Self {
        Self::ErrNotFound { task_id: refusal.task_id }
    }
}

impl From<InvalidTransition> for TaskUpdateError {
    fn from(refusal: InvalidTransition) -> Self {
        let allowed = state::allowed(refusal.from).to_vec();
        Self::ErrInvalidTransition { task_id: refusal.task_id, from: refusal.from, to: refusal.to, allowed }
    }
}

impl From<WritebackRequired> for TaskUpdateError {
    fn from(refusal: WritebackRequired) -> Self {
        Self::ErrWritebackRequired { task_id: refusal.task_id, missing_fields: refusal.missing_fields }
    }
}
