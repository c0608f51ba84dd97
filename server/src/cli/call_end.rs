//! How a call ended, in one word for all views.

use crate::catalogue::FOREIGN;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It did what it was asked.
    Done,
    /// It was tried, and failed.
    Failed,
    /// It was not tried, or the server said no.
    Refused,
    /// It runs, its server died, or another server asks for input or works on it as a task.
    Unfinished,
}

impl CallEnd {
    /// Returns how a row of the log says that its call ended.
    pub fn of(outcome: &str, code: Option<&str>) -> Self {
        let has = |codes: &[&str]| code.is_some_and(|code| codes.contains(&code));
        match outcome {
            "ok" => Self::Done,
            "running" | "aborted" => Self::Unfinished,
            "domain_error" if has(&[FOREIGN.input_required.code, FOREIGN.task_created.code]) => {
                Self::Unfinished
            }
            "domain_error" if has(&[FOREIGN.tool_error.code, FOREIGN.result_unknown.code]) => Self::Failed,
            "error" => Self::Failed,
            _ => Self::Refused,
        }
    }

    /// Returns whether it belongs to what a reader should look at.
    pub fn is_error(self) -> bool {
        matches!(self, Self::Failed | Self::Refused)
    }
}
