//! The task pipeline's state machine (tasks#states): eight states and thirteen steps; the last two states are final.
//!
//! The catalogue defines the states; the table here defines the steps.

use std::fmt;

use crate::catalogue::TaskStatus;

use TaskStatus::{Analyze, Apply, Cancelled, Done, Gather, Init, Plan, Verify};

/// The states in canonical order, which is used wherever an order is needed.
pub const TASK_STATES: [TaskStatus; 8] = [Init, Gather, Analyze, Plan, Apply, Verify, Done, Cancelled];

/// Returns the next states for a task in `from`, in canonical order. It is a match, so that a new state in the
/// catalogue does not compile before its steps are decided.
pub const fn allowed(from: TaskStatus) -> &'static [TaskStatus] {
    match from {
        Init => &[Gather, Cancelled],
        Gather => &[Analyze, Cancelled],
        Analyze => &[Plan, Cancelled],
        Plan => &[Apply, Cancelled],
        Apply => &[Verify, Cancelled],
        // A failed verification goes back to gathering, which is the retry.
        Verify => &[Gather, Done, Cancelled],
        Done | Cancelled => &[],
    }
}

/// Returns whether the pipeline has a step from `from` to `to`. No state has a step to itself.
pub fn can_transition(from: TaskStatus, to: TaskStatus) -> bool {
    allowed(from).contains(&to)
}

/// Checks that the pipeline has the step.
///
/// # Errors
/// [`InvalidTransition`] when the pipeline has no such step.
pub fn check(task_id: &str, from: TaskStatus, to: TaskStatus) -> Result<(), InvalidTransition> {
    if can_transition(from, to) {
        return Ok(());
    }
    Err(InvalidTransition { task_id: task_id.to_owned(), from, to })
}

/// A step that is not in the pipeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Task {task_id} cannot go from {from} to {to}")]
pub struct InvalidTransition {
    /// The task.
    pub task_id: String,
    /// Its state.
    pub from: TaskStatus,
    /// The requested state.
    pub to: TaskStatus,
}

/// A text that names no state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownState(pub String);

impl fmt::Display for UnknownState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "unknown task state {:?}; use one of", self.0)?;
        TASK_STATES.iter().enumerate().try_for_each(|(index, state)| {
            let separator = if index == 0 { " " } else { ", " };
            write!(out, "{separator}{state}")
        })
    }
}

impl std::error::Error for UnknownState {}

/// Returns the state with exactly that name; case and white space count.
///
/// # Errors
/// [`UnknownState`] for any other text.
pub fn parse_state(text: &str) -> Result<TaskStatus, UnknownState> {
    text.parse().map_err(|_| UnknownState(text.to_owned()))
}
