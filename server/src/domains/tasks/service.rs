//! Operations on tasks, each all or nothing inside the caller's transaction (tasks#update).
//!
//! Refusals precede any write, in the order of tasks#update.

use colibri_runtime::handler::{Failure, Fault, Outcome};

use super::change;
use super::claims;
use super::dependencies::find_cycle;
use super::errors::{TaskNotFound, WritebackRequired, born_finished, widen};
use super::history::{self, Entry, Standing};
use super::input::{ListFilter, NewTask, QueueFilter, Stamp, TaskPatch};
use super::state;
use super::store::{self, Listed};
use crate::catalogue::{Task, TaskCreateError, TaskEventKind, TaskStatus, TaskUpdateError};
use crate::domains::reputation::feed::TaskFeed;
use crate::domains::{reputation, trail};
use colibri_store::db::Db;

/// A page of tasks, and the number of all matches.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage<T> {
    /// The page.
    pub tasks: Vec<T>,
    /// Matches on all pages.
    pub total: i64,
}

/// The head of the queue, and the number of tasks behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Queue<T> {
    /// The most urgent tasks.
    pub tasks: Vec<T>,
    /// Tasks that are ready, shown or not.
    pub actionable: i64,
    /// Open tasks that wait for a dependency.
    pub blocked: i64,
}

/// Stores a new task under `id`. A new task cannot be finished: no thought record can name it yet.
///
/// # Errors
/// The tool's declared errors, before any write; storage faults.
pub fn create_task(db: &Db, id: String, stamp: Stamp<'_>, new: NewTask) -> Outcome<Task, TaskCreateError> {
    // First, because what the other refusal suggests repeats the dependencies.
    let missing = unknown_tasks(db, &new.depends_on, &[])?;
    if !missing.is_empty() {
        return Err(Failure::Domain(TaskCreateError::ErrDependencyNotFound { task_id: None, missing }));
    }
    if new.status == TaskStatus::Done {
        return Err(Failure::Domain(born_finished()));
    }
    store::insert(db, &id, stamp, &new)?;
    store::add_dependencies(db, &id, &new.depends_on)?;
    Ok(Task {
        task_id: id.clone(),
        id,
        project_id: new.project_id,
        title: new.title,
        description: new.description,
        status: new.status,
        priority: new.priority,
        assignee: new.assignee,
        created_at: stamp.now.to_owned(),
        updated_at: stamp.now.to_owned(),
        deleted_at: None,
        depends_on: store::listed(new.depends_on),
        held: None,
    })
}

/// Returns the live task with that id, if it exists.
///
/// # Errors
/// Storage faults.
pub fn get_task(db: &Db, id: &str) -> Result<Option<Task>, Fault> {
    store::live(db, id)
}

/// Changes a task. `claim` is the number of the caller's claim. The pipeline checks a new status, and a finished task needs a
/// thought record; an empty patch writes nothing. If finished work feeds reputation, a task that has just been finished is
/// reported there, unless it was born in a later state than INIT.
///
/// # Errors
/// The tool's declared errors, before any write; storage faults.
pub fn update_task(
    db: &Db,
    id: &str,
    stamp: Stamp<'_>,
    (patch, claim): (&TaskPatch, Option<i64>),
    feed: Option<&TaskFeed>,
) -> Outcome<Task, TaskUpdateError> {
    let Some(standing) = history::live_standing(db, id)? else {
        return Err(Failure::Domain(not_found(id).into()));
    };
    if patch.is_empty() {
        return Ok(standing.task);
    }
    claims::check_change(db, &standing, stamp, claim)?;
    if let Some(to) = patch.status {
        state::check(&standing.task.id, standing.task.status, to).map_err(TaskUpdateError::from)?;
    }
    let updated = update_task_raw(db, &standing, stamp, patch)?;
    // The pipeline refuses a repeated DONE, so this happens once per task.
    if let (Some(feed), Some(TaskStatus::Done)) = (feed, patch.status)
        && history::earns(db, &updated.id)?
    {
        reputation::feed::task_done(db, feed, &updated.id, updated.assignee.as_deref())?;
    }
    Ok(updated)
}

/// Writes a patch over a live row without the pipeline and without a report to reputation. The writeback gate and the
/// dependencies are still checked. The event comes before the row, which it tells of as it stood.
fn update_task_raw(
    db: &Db,
    standing: &Standing,
    stamp: Stamp<'_>,
    patch: &TaskPatch,
) -> Outcome<Task, TaskUpdateError> {
    let current = &standing.task;
    let id = current.id.as_str();
    if patch.status == Some(TaskStatus::Done) {
        enforce_writeback(db, id).map_err(widen)?;
    }
    if let Some(wanted) = &patch.depends_on {
        check_dependencies(db, current, wanted)?;
    }
    let updated = change::patched(current, patch, stamp.now);
    let entry = Entry {
        kind: TaskEventKind::Changed,
        to: updated.status,
        task_call: stamp.sequence_no,
        at: &updated.updated_at,
        changes: change::difference(current, &updated),
        claim: None,
    };
    history::append(db, standing, stamp, entry)?;
    if let Some(wanted) = &patch.depends_on {
        store::replace_dependencies(db, id, wanted)?;
    }
    store::update(db, id, stamp, patch)?;
    if matches!(patch.status, Some(TaskStatus::Done | TaskStatus::Cancelled)) {
        claims::end_with_task(db, standing, stamp, &updated.updated_at)?;
    }
    Ok(updated)
}

/// Returns one page of the tasks that match, oldest first.
///
/// # Errors
/// Storage faults.
pub fn list_tasks<T: Listed>(db: &Db, filter: &ListFilter) -> Result<TaskPage<T>, Fault> {
    let tasks = store::page(db, filter)?;
    let shown = tasks.len() as i64;
    // A page that is neither empty nor full is the last one, so its length gives the total.
    let total =
        if shown > 0 && shown < filter.limit { filter.offset + shown } else { store::count(db, filter)? };
    Ok(TaskPage { tasks, total })
}

/// Returns the open tasks that wait for nothing, most urgent first, as a call sees them that was entered at `entered_ms`.
///
/// # Errors
/// Storage faults.
pub fn next_actions<T: Listed>(db: &Db, filter: &QueueFilter) -> Result<Queue<T>, Fault> {
    let (actionable, blocked) = store::queue_counts(db, filter)?;
    let tasks = if actionable == 0 { Vec::new() } else { store::queue(db, filter)? };
    Ok(Queue { tasks, actionable, blocked })
}

/// Checks the gate before DONE (tasks#writeback-gate): the task has at least one thought record.
///
/// # Errors
/// [`WritebackRequired`] if it has none; storage faults.
pub fn enforce_writeback(db: &Db, id: &str) -> Result<(), Failure<WritebackRequired>> {
    if trail::count_thoughts(db, id)? == 0 {
        return Err(Failure::Domain(WritebackRequired::of(id)));
    }
    Ok(())
}

/// Makes the refusal of an operation on a task that does not exist.
pub fn not_found(id: &str) -> TaskNotFound {
    TaskNotFound { task_id: id.to_owned() }
}

/// Checks the rules of tasks#dependencies: every new dependency is a live task, and none leads back to the task.
fn check_dependencies(db: &Db, task: &Task, wanted: &[String]) -> Result<(), Failure<TaskUpdateError>> {
    let kept = task.depends_on.as_deref().unwrap_or_default();
    let missing = unknown_tasks(db, wanted, kept)?;
    if !missing.is_empty() {
        let task_id = task.id.clone();
        return Err(Failure::Domain(TaskUpdateError::ErrDependencyNotFound { task_id, missing }));
    }
    match find_cycle(&task.id, wanted, |id| store::dependencies(db, id))? {
        Some(cycle) => {
            let task_id = task.id.clone();
            Err(Failure::Domain(TaskUpdateError::ErrDependencyCycle { task_id, cycle }))
        }
        None => Ok(()),
    }
}

/// Returns those of `wanted` that name no live task, in the order given. Ids in `kept` may stay, even if their tasks
/// were deleted.
fn unknown_tasks(db: &Db, wanted: &[String], kept: &[String]) -> Result<Vec<String>, Fault> {
    let new: Vec<&str> = wanted.iter().filter(|id| !kept.contains(id)).map(String::as_str).collect();
    let live = store::live_of(db, &new)?;
    Ok(new.into_iter().filter(|id| !live.contains(id)).map(str::to_owned).collect())
}
