//! A board for tests.

use crate::catalogue::{BriefTask, TaskHold, TaskStatus};
use crate::cli::moments::Clock;
use crate::domains::tasks::shown::columns::StateColumn;
use crate::domains::tasks::shown::{Group, Prerequisite, Shown};

/// The time at which the board is looked at.
pub fn clock() -> Clock {
    Clock::at("2026-11-22T13:30:00Z", "UTC0")
}

/// A task whose id ends with these characters.
pub fn task(end: &str, title: &str, status: TaskStatus) -> Shown {
    let task = BriefTask {
        id: format!("01a204cb-d8da-75e5-9f31-639c{end}"),
        title: title.to_owned(),
        status,
        priority: None,
        project_id: None,
        assignee: None,
        updated_at: "2026-11-22T13:00:00.000Z".to_owned(),
        held: None,
    };
    Shown { task, group: Group::Ready, held_caller: None, waiting_for: Vec::new() }
}

/// A column of these tasks.
pub fn column(status: TaskStatus, tasks: Vec<Shown>) -> StateColumn {
    StateColumn { status, count: tasks.len() as i64, tasks }
}

/// Four tasks, one of them held and one blocked, and two that a limit has left out.
pub fn columns() -> Vec<StateColumn> {
    let mut blocked = task("0b9c8d7e", "Announce the release", TaskStatus::Init);
    let mut held = task("5c1d7e3b", "Write the migration", TaskStatus::Apply);
    blocked.group = Group::Blocked;
    blocked.waiting_for = vec![Prerequisite {
        id: held.task.id.clone(),
        title: held.task.title.clone(),
        status: TaskStatus::Apply,
        deleted: false,
    }];
    held.group = Group::Held;
    held.task.priority = Some("high".to_owned());
    held.task.held =
        Some(TaskHold { by: "claude-1".to_owned(), until: "2026-11-22T13:41:20.000Z".to_owned() });
    let mut ready = task("63f615aa", "Measure the import", TaskStatus::Gather);
    ready.task.priority = Some("high".to_owned());
    let odd = task("77777777", "日本語\u{1b}[2J題名", TaskStatus::Init);
    vec![
        column(TaskStatus::Init, vec![blocked, odd]),
        column(TaskStatus::Gather, vec![ready]),
        column(TaskStatus::Analyze, Vec::new()),
        column(TaskStatus::Plan, Vec::new()),
        StateColumn { count: 3, ..column(TaskStatus::Apply, vec![held]) },
        column(TaskStatus::Verify, Vec::new()),
    ]
}
