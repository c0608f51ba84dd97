//! The engine's inputs. `mod.rs` converts the tools' generated inputs to these at the border.

use crate::catalogue::TaskStatus;

/// A new task. Texts are stored unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// The title.
    pub title: String,
    /// The initial state.
    pub status: TaskStatus,
    /// The project it belongs to.
    pub project_id: Option<String>,
    /// Longer text.
    pub description: Option<String>,
    /// Free text. The queue ranks the words that it knows.
    pub priority: Option<String>,
    /// The assignee.
    pub assignee: Option<String>,
    /// Ids of the tasks it waits for.
    pub depends_on: Vec<String>,
}

/// A change to a task: `None` keeps a field; where a field may be empty, `Some(None)` clears it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskPatch {
    /// A new title.
    pub title: Option<String>,
    /// The next state.
    pub status: Option<TaskStatus>,
    /// Another project; `Some(None)` removes it.
    pub project_id: Option<Option<String>>,
    /// Another description; `Some(None)` removes it.
    pub description: Option<Option<String>>,
    /// Another priority; `Some(None)` removes it.
    pub priority: Option<Option<String>>,
    /// Another assignee; `Some(None)` removes it.
    pub assignee: Option<Option<String>>,
    /// The whole set of dependencies.
    pub depends_on: Option<Vec<String>>,
}

impl TaskPatch {
    /// Returns whether the patch is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The filter and the page of a task list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListFilter {
    /// The only state to list.
    pub status: Option<TaskStatus>,
    /// The only project to list; `Some(None)` means tasks without a project.
    pub project_id: Option<Option<String>>,
    /// The longest page.
    pub limit: i64,
    /// Matches to skip.
    pub offset: i64,
    /// Whether to include deleted tasks.
    pub include_deleted: bool,
}

impl Default for ListFilter {
    /// Returns the first page of all live tasks (tasks#listing).
    fn default() -> Self {
        Self { status: None, project_id: None, limit: 100, offset: 0, include_deleted: false }
    }
}

/// The filter of the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueFilter {
    /// The only project to show; `Some(None)` means tasks without a project.
    pub project_id: Option<Option<String>>,
    /// The only assignee to show; `Some(None)` means unassigned tasks.
    pub assignee: Option<Option<String>>,
    /// The most tasks to return.
    pub limit: i64,
    /// The most blocked tasks to return.
    pub blocked_limit: i64,
    /// Leaves out the tasks that agents hold: the texts between which a live claim's lease ends
    /// ([`Time::live_between`](super::rules::Time::live_between)).
    pub unclaimed: Option<[String; 2]>,
}

/// What an agent asks for with a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimWish {
    /// The agent, as it calls itself.
    pub agent_id: String,
    /// The task; `None` for the most urgent free one.
    pub id: Option<String>,
    /// The only project to take it from; `Some(None)` means tasks without a project.
    pub project_id: Option<Option<String>>,
    /// How long the claim lasts.
    pub lease_seconds: i64,
    /// The number of the claim to renew.
    pub claim: Option<i64>,
}

impl Default for QueueFilter {
    /// Returns the head of the whole queue (tasks#queue).
    fn default() -> Self {
        Self { project_id: None, assignee: None, limit: 20, blocked_limit: 10, unclaimed: None }
    }
}

/// The time and the call of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// The present time, UTC, RFC 3339 with milliseconds.
    pub now: &'a str,
    /// When the call was entered in the log, in milliseconds since the Unix epoch.
    pub entered_ms: i64,
    /// The audit number of the call (store#ties); `None` outside calls.
    pub sequence_no: Option<i64>,
}
