//! `colibri next`: what an agent would take up next, and what keeps the others.

use std::io::{self, Write};

use serde::Serialize;

use super::Look;
use super::table::{Cell, Column, Style, Table, line};
use super::tasks::{obstacle, print_nothing, style};
use crate::cli::Failure;
use crate::cli::arguments::views::Next;
use crate::cli::ids::short;
use crate::cli::output::print_json;
use crate::domains::tasks::shown::{Filter, Group, Prerequisite, Shown, list};

/// The most held and the most blocked tasks that are named.
const MOST_KEPT: usize = 10;
/// The columns. What keeps a task is never cut for its title.
const COLUMNS: [Column; 5] = [
    Column::number("NEXT"),
    Column::whole("ID"),
    Column::giving("PRIORITY", 4),
    Column::giving("TITLE", 8),
    Column::whole("STATE / KEPT BY"),
];

/// The head of the queue.
#[derive(Debug, Serialize)]
struct Queue {
    ready: Vec<Shown>,
    ready_count: i64,
    held: Vec<Shown>,
    held_count: i64,
    blocked: Vec<Shown>,
    blocked_count: i64,
}

pub(super) fn run(arguments: &Next, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let (project, assignee) = (arguments.project.clone(), arguments.assignee.clone());
    let filter = Filter { project, assignee, ..Filter::default() };
    let group = |group, limit| {
        let filter = Filter { group: Some(group), limit, ..filter.clone() };
        list(&look.db, &filter, look.clock.now_ms())
    };
    let ready = group(Group::Ready, arguments.limit as usize)?;
    let queue = Queue {
        ready: ready.tasks,
        ready_count: ready.counts.ready,
        held: group(Group::Held, MOST_KEPT)?.tasks,
        held_count: ready.counts.held,
        blocked: group(Group::Blocked, MOST_KEPT)?.tasks,
        blocked_count: ready.counts.blocked,
    };
    if look.json {
        return Ok(print_json(out, &queue)?);
    }
    if queue.ready_count + queue.held_count + queue.blocked_count == 0 {
        return print_nothing(&filter, look, out);
    }
    Ok(print(&queue, look, out)?)
}

fn print(queue: &Queue, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(COLUMNS);
    let places = (1..).map(|place: usize| place.to_string());
    let ready = places.zip(&queue.ready);
    let held = queue.held.iter().map(|shown| ("held".to_owned(), shown));
    let blocked = queue.blocked.iter().map(|shown| ("blocked".to_owned(), shown));
    for (place, shown) in ready.chain(held).chain(blocked) {
        let task = &shown.task;
        table.push([
            Cell::styled(&place, style(shown.group)),
            short(&task.id).into(),
            task.priority.as_deref().into(),
            task.title.as_str().into(),
            reason(shown, look).into(),
        ]);
    }
    if queue.ready.is_empty() {
        line(out, look.screen, "No task is free.", Style::Plain)?;
    }
    table.print(out, look.screen)?;
    for (more, what) in [
        (queue.ready_count - queue.ready.len() as i64, "ready"),
        (queue.held_count - queue.held.len() as i64, "held"),
        (queue.blocked_count - queue.blocked.len() as i64, "blocked"),
    ] {
        if more > 0 {
            line(out, look.screen, &format!("{more} more {what}: colibri tasks --{what}"), Style::Dim)?;
        }
    }
    Ok(())
}

/// Says in which state a task is, or what keeps it.
fn reason(shown: &Shown, look: &Look) -> String {
    let wait = |one: &Prerequisite| {
        let state = if one.deleted { "deleted" } else { one.status.as_str() };
        format!("waits for {} ({state})", short(&one.id))
    };
    match (&shown.group, shown.waiting_for.as_slice()) {
        (Group::Blocked, [one]) => wait(one),
        (Group::Blocked, [first, others @ ..]) => format!("{} and {} more", wait(first), others.len()),
        (Group::Held, _) => obstacle(shown, &look.clock),
        _ => format!("{}, free", shown.task.status.as_str()),
    }
}
