//! Tasks by their states, as a board has them.

use colibri_runtime::handler::Fault;
use serde::Serialize;

use super::{Filter, Shown, each_with_text, fits, shown, store};
use crate::catalogue::{BriefTask, TaskStatus};
use crate::domains::tasks::claims::now;
use colibri_store::db::Db;

use super::Group;

/// The states of open tasks, in the order of the pipeline.
const OPEN: [TaskStatus; 6] = [
    TaskStatus::Init,
    TaskStatus::Gather,
    TaskStatus::Analyze,
    TaskStatus::Plan,
    TaskStatus::Apply,
    TaskStatus::Verify,
];

/// The states of finished tasks.
const FINISHED: [TaskStatus; 2] = [TaskStatus::Done, TaskStatus::Cancelled];

/// The tasks in one state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateColumn {
    pub status: TaskStatus,
    /// How many match, shown or not.
    pub count: i64,
    /// The most urgent of them.
    pub tasks: Vec<Shown>,
}

/// A field whose names the board can be narrowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Project,
    Assignee,
}

/// Returns the names that the live tasks have in a field, in order.
///
/// # Errors
/// Storage faults.
pub fn names(db: &Db, field: Field) -> Result<Vec<String>, Fault> {
    let mut names = store::names(
        db,
        match field {
            Field::Project => "project_id",
            Field::Assignee => "assignee",
        },
    )?;
    // Databases sort texts by rules of their own.
    names.sort();
    Ok(names)
}

/// What was found in a state.
struct Found {
    status: TaskStatus,
    count: i64,
    tasks: Vec<(BriefTask, Group)>,
}

/// Lists tasks by their states; the states of finished tasks only with `all`. The limit is that of each state, and the filter's own
/// states do not count.
///
/// # Errors
/// Storage faults.
pub fn columns(db: &Db, filter: &Filter, now_ms: i64) -> Result<Vec<StateColumn>, Fault> {
    let bounds = now(db, now_ms)?.live_between();
    let finished = if filter.all { &FINISHED[..] } else { &[] };
    let mut found: Vec<Found> = OPEN
        .iter()
        .chain(finished)
        .map(|status| Found { status: *status, count: 0, tasks: Vec::new() })
        .collect();
    match &filter.search {
        None => {
            let counts = store::counts_by_state(db, filter, &bounds)?;
            for column in &mut found {
                let of_column = counts.iter().find(|(status, _)| *status == column.status);
                column.count = of_column.map_or(0, |(_, count)| *count);
                if column.count > 0 {
                    let filter = Filter { states: vec![column.status], ..filter.clone() };
                    column.tasks = store::page(db, &filter, &bounds)?;
                }
            }
        }
        Some(search) => each_with_text(db, filter, search, &bounds, |task, group| {
            let column = found.iter_mut().find(|column| column.status == task.status);
            let Some(column) = column.filter(|_| fits(filter, group, task.status)) else { return };
            column.count += 1;
            if column.tasks.len() < filter.limit {
                column.tasks.push((task, group));
            }
        })?,
    }
    found
        .into_iter()
        .map(|Found { status, count, tasks }| Ok(StateColumn { status, count, tasks: shown(db, tasks)? }))
        .collect()
}
