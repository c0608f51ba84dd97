//! What the engine is asked for. The tools' generated inputs become these at the border (`mod.rs`).

use crate::catalogue::TaskStatus;

/// A task to be created. Texts are stored as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// What is to be done.
    pub title: String,
    /// The state to enter at.
    pub status: TaskStatus,
    /// The project it belongs to.
    pub project_id: Option<String>,
    /// Longer text.
    pub description: Option<String>,
    /// Free text; see [`priority::rank`](super::priority::rank).
    pub priority: Option<String>,
    /// Who is to do it.
    pub assignee: Option<String>,
    /// Ids of the tasks it waits for.
    pub depends_on: Vec<String>,
}

impl NewTask {
    /// A task in the first state with nothing but a title.
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            status: TaskStatus::Init,
            project_id: None,
            description: None,
            priority: None,
            assignee: None,
            depends_on: Vec::new(),
        }
    }
}

/// A change to a task: `None` keeps a field; where a field may be empty, `Some(None)` clears it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskPatch {
    /// A new title.
    pub title: Option<String>,
    /// The next state.
    pub status: Option<TaskStatus>,
    /// Another project, or none.
    pub project_id: Option<Option<String>>,
    /// Another description, or none.
    pub description: Option<Option<String>>,
    /// Another priority, or none.
    pub priority: Option<Option<String>>,
    /// Another assignee, or none.
    pub assignee: Option<Option<String>>,
    /// The whole set of dependencies.
    pub depends_on: Option<Vec<String>>,
}

impl TaskPatch {
    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Which tasks to list, and which page of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ListFilter {
    /// One state only.
    pub status: Option<TaskStatus>,
    /// One project only; `Some(None)` means tasks without one.
    pub project_id: Option<Option<String>>,
    /// Longest page.
    pub limit: i64,
    /// Matches to skip.
    pub offset: i64,
    /// Whether deleted tasks count.
    pub include_deleted: bool,
}

impl Default for ListFilter {
    /// The first page of all live tasks (tasks#listing).
    fn default() -> Self {
        Self { status: None, project_id: None, limit: 100, offset: 0, include_deleted: false }
    }
}

/// Which part of the queue to show.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueFilter {
    /// One project only; `Some(None)` means tasks without one.
    pub project_id: Option<Option<String>>,
    /// One assignee only; `Some(None)` means unassigned tasks.
    pub assignee: Option<Option<String>>,
    /// Most tasks to return.
    pub limit: i64,
}

impl Default for QueueFilter {
    /// The head of the whole queue (tasks#queue).
    fn default() -> Self {
        Self { project_id: None, assignee: None, limit: 20 }
    }
}

/// Who changes a row, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// The present time, UTC, RFC 3339 with milliseconds.
    pub now: &'a str,
    /// The audit number of the call (store#ties); `None` outside calls.
    pub sequence_no: Option<i64>,
}
