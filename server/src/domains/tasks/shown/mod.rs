//! Tasks as people see them in lists and on the board: in the queue's order, with who holds them and what they wait for.

pub mod columns;
pub mod graph;
mod store;

use std::collections::HashMap;

use colibri_runtime::handler::Fault;
use serde::Serialize;

use super::claims::now;
use super::history::standing;
use crate::catalogue::{BriefTask, Task, TaskHold, TaskStatus};
use colibri_store::callers::{CallerRow, caller};
use colibri_store::db::Db;

/// What keeps a task, or that nothing does. Each live task is in one of these groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Open, free, and it waits for nothing.
    Ready,
    /// Open, and an agent holds it.
    Held,
    /// Open and free, and it waits for another task.
    Blocked,
    /// DONE or CANCELLED.
    Finished,
}

/// Which tasks are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this group; otherwise all open tasks, or all live ones.
    pub group: Option<Group>,
    /// Only tasks in one of these states; every state if it is empty.
    pub states: Vec<TaskStatus>,
    /// Finished tasks, too.
    pub all: bool,
    /// Only this project.
    pub project: Option<String>,
    /// Only this assignee.
    pub assignee: Option<String>,
    /// Only tasks with this text in their title or description, in any case.
    pub search: Option<String>,
    /// The most tasks that are listed.
    pub limit: usize,
}

/// A task that another one waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prerequisite {
    pub id: String,
    pub title: String,
    pub status: TaskStatus,
    /// It was deleted, so the wait never ends by itself.
    pub deleted: bool,
}

/// A task of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    #[serde(flatten)]
    pub task: BriefTask,
    pub group: Group,
    /// The caller that claimed it for its holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_caller: Option<CallerRow>,
    /// The unfinished tasks that it waits for.
    pub waiting_for: Vec<Prerequisite>,
}

/// How many live tasks there are in each group, shown or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub ready: i64,
    pub held: i64,
    pub blocked: i64,
    pub finished: i64,
}

impl Counts {
    fn add(&mut self, group: Group) {
        match group {
            Group::Ready => self.ready += 1,
            Group::Held => self.held += 1,
            Group::Blocked => self.blocked += 1,
            Group::Finished => self.finished += 1,
        }
    }

    /// Returns how many tasks are open.
    pub fn open(&self) -> i64 {
        self.ready + self.held + self.blocked
    }
}

/// A list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct List {
    pub tasks: Vec<Shown>,
    /// Of all tasks that fit project, assignee and text.
    pub counts: Counts,
    /// How many tasks the limit has left out.
    pub left_out: i64,
}

/// What a filter finds.
struct Found {
    /// As many as the limit allows.
    tasks: Vec<(BriefTask, Group)>,
    counts: Counts,
    /// How many match, the limit aside.
    matching: i64,
}

/// Lists tasks, the most urgent first and finished ones last.
///
/// # Errors
/// Storage faults.
pub fn list(db: &Db, filter: &Filter, now_ms: i64) -> Result<List, Fault> {
    let bounds = now(db, now_ms)?.live_between();
    let Found { tasks: found, counts, matching } = match &filter.search {
        None => {
            let counts = store::counts(db, filter, &bounds)?;
            let matching = store::count(db, filter, &bounds, counts)?;
            Found { tasks: store::page(db, filter, &bounds)?, counts, matching }
        }
        Some(search) => found_by_text(db, filter, search, &bounds)?,
    };
    let left_out = matching - found.len() as i64;
    Ok(List { tasks: shown(db, found)?, counts, left_out })
}

/// Adds to tasks what they wait for, and who claimed those that are held.
fn shown(db: &Db, found: Vec<(BriefTask, Group)>) -> Result<Vec<Shown>, Fault> {
    let open = found.iter().filter(|(_, group)| *group != Group::Finished);
    let mut waiting = waiting_for(db, &open.map(|(task, _)| task.id.as_str()).collect::<Vec<_>>())?;
    let held = found.iter().filter(|(_, group)| *group == Group::Held);
    let mut callers =
        store::callers_of_claims(db, &held.map(|(task, _)| task.id.as_str()).collect::<Vec<_>>())?;
    let shown = found.into_iter().map(|(task, group)| {
        let waiting_for = waiting.remove(&task.id).unwrap_or_default();
        let held_caller = callers.remove(&task.id);
        Shown { task, group, held_caller, waiting_for }
    });
    Ok(shown.collect())
}

/// Lists what has a text.
fn found_by_text(db: &Db, filter: &Filter, search: &str, bounds: &[String; 2]) -> Result<Found, Fault> {
    let mut found = Found { tasks: Vec::new(), counts: Counts::default(), matching: 0 };
    each_with_text(db, filter, search, bounds, |task, group| {
        found.counts.add(group);
        if fits(filter, group, task.status) {
            found.matching += 1;
            if found.tasks.len() < filter.limit {
                found.tasks.push((task, group));
            }
        }
    })?;
    Ok(found)
}

/// Goes through all tasks, since letters in any case are not the same to every database.
fn each_with_text(
    db: &Db,
    filter: &Filter,
    search: &str,
    bounds: &[String; 2],
    mut take: impl FnMut(BriefTask, Group),
) -> Result<(), Fault> {
    let wanted = search.to_lowercase();
    store::each(db, filter, bounds, |task, group, description| {
        let texts = [Some(task.title.as_str()), description];
        if texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted)) {
            take(task, group);
        }
    })
}

fn fits(filter: &Filter, group: Group, status: TaskStatus) -> bool {
    let in_group = match filter.group {
        Some(wanted) => wanted == group,
        None => filter.all || !filter.states.is_empty() || group != Group::Finished,
    };
    in_group && (filter.states.is_empty() || filter.states.contains(&status))
}

/// Returns the unfinished tasks that each of these tasks waits for.
fn waiting_for(db: &Db, ids: &[&str]) -> Result<HashMap<String, Vec<Prerequisite>>, Fault> {
    let mut by_task: HashMap<String, Vec<Prerequisite>> = HashMap::new();
    for (task_id, prerequisite) in store::prerequisites(db, ids)? {
        by_task.entry(task_id).or_default().push(prerequisite);
    }
    Ok(by_task)
}

/// A task and those it is tied to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Whole {
    #[serde(flatten)]
    pub task: Task,
    pub group: Group,
    /// The number of the live claim.
    pub claim: Option<i64>,
    /// The caller that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_caller: Option<CallerRow>,
    /// The unfinished tasks that it waits for.
    pub waiting_for: Vec<Prerequisite>,
    /// The live tasks that wait for it.
    pub needed_by: Vec<BriefTask>,
}

/// Returns a task, deleted or not, as it stands.
///
/// # Errors
/// Storage faults.
pub fn whole(db: &Db, id: &str, now_ms: i64) -> Result<Option<Whole>, Fault> {
    let Some(standing) = standing(db, id)? else { return Ok(None) };
    let time = now(db, now_ms)?;
    let (mut task, live) = (standing.task, standing.claim.filter(|claim| claim.is_live(time)));
    let claim = live.as_ref().map(|claim| claim.no);
    let held_caller = match &live {
        Some(claim) => caller(db, claim.caller_no)?,
        None => None,
    };
    task.held = live.map(|claim| TaskHold { by: claim.agent_id, until: claim.lease_until });
    let waiting_for = waiting_for(db, &[&task.id])?.remove(&task.id).unwrap_or_default();
    let group = match task.status {
        TaskStatus::Done | TaskStatus::Cancelled => Group::Finished,
        _ if task.held.is_some() => Group::Held,
        _ if !waiting_for.is_empty() => Group::Blocked,
        _ => Group::Ready,
    };
    let needed_by = store::needed_by(db, &task.id)?;
    Ok(Some(Whole { task, group, claim, held_caller, waiting_for, needed_by }))
}

/// A task in the picture of dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    pub id: String,
    pub title: String,
    pub status: TaskStatus,
    pub group: Group,
    /// It was deleted, so what waits for it waits until the dependency is removed.
    pub deleted: bool,
}

/// Returns the title of a task, deleted or not.
///
/// # Errors
/// Storage faults.
pub fn title(db: &Db, id: &str) -> Result<Option<String>, Fault> {
    store::title(db, id)
}
