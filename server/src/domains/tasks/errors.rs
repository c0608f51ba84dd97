//! Why the engine refuses, and the one place where a refusal becomes a tool's declared error.

use colibri_runtime::handler::Failure;

use super::state::{self, InvalidTransition};
use crate::catalogue::{TaskCreateError, TaskGetError, TaskUpdateError};

/// What a task must have before it may be finished.
pub const WRITEBACK_FIELDS: [&str; 1] = ["thought_record"];

/// What was asked of a task that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// To read it.
    Get,
    /// To change it.
    Update,
    /// To delete it.
    Delete,
}

/// No live task has that id; unknown, malformed and deleted ids look the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Task not found: {task_id}")]
pub struct TaskNotFound {
    /// The id as it was given.
    pub task_id: String,
    /// What was asked.
    pub operation: Operation,
}

/// A task was to be finished without a trace of its work (tasks#writeback-gate).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Writeback required for task {task_id}: missing {}", missing_fields.join(", "))]
pub struct WritebackRequired {
    /// The task.
    pub task_id: String,
    /// What it lacks: [`WRITEBACK_FIELDS`].
    pub missing_fields: Vec<String>,
}

impl WritebackRequired {
    /// For a task that exists.
    pub fn of(task_id: &str) -> Self {
        Self { task_id: task_id.to_owned(), missing_fields: missing_fields() }
    }
}

fn missing_fields() -> Vec<String> {
    WRITEBACK_FIELDS.map(str::to_owned).to_vec()
}

/// Creation of a finished task: there is no id yet to name.
pub(super) fn born_finished() -> TaskCreateError {
    TaskCreateError::ErrWritebackRequired { task_id: None, missing_fields: missing_fields() }
}

/// Widens a refusal to an error that has room for it; faults pass through.
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
