//! `colibri next`: what an agent would take up next, and what keeps the others.

use std::io::Write;

use colibri_visible::printable;
use serde::Serialize;

use super::Look;
use super::ids::short;
use super::table::{Line, Style, line};
use crate::cli::Failure;
use crate::cli::arguments::views::Next;
use crate::cli::output::print_json;
use crate::domains::tasks::shown::{Filter, Group, Prerequisite, Shown, list};

/// The most blocked tasks that are named.
const MOST_BLOCKED: usize = 10;

/// The head of the queue.
#[derive(Debug, Serialize)]
struct Queue {
    ready: Vec<Shown>,
    ready_count: i64,
    blocked: Vec<Shown>,
    blocked_count: i64,
    held_count: i64,
}

pub(super) fn run(arguments: &Next, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let group = |group, limit| {
        let (project, assignee) = (arguments.project.clone(), arguments.assignee.clone());
        let filter = Filter { group: Some(group), project, assignee, limit, ..Filter::default() };
        list(&look.db, &filter, look.clock.now_ms())
    };
    let (ready, blocked) =
        (group(Group::Ready, arguments.limit as usize)?, group(Group::Blocked, MOST_BLOCKED)?);
    let queue = Queue {
        ready: ready.tasks,
        ready_count: ready.counts.ready,
        blocked: blocked.tasks,
        blocked_count: ready.counts.blocked,
        held_count: ready.counts.held,
    };
    if look.json {
        return Ok(print_json(out, &queue)?);
    }
    print(&queue, look, out)
}

fn print(queue: &Queue, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    for (place, shown) in queue.ready.iter().enumerate() {
        let task = &shown.task;
        let mut line = Line::new(look.screen);
        line.push(&format!("{}  ", place + 1), Style::Plain);
        line.push(&short(&task.id), Style::Green);
        let priority = task.priority.as_deref().map(|priority| format!("  {}", printable(priority)));
        line.push(&priority.unwrap_or_default(), Style::Plain);
        line.push(&format!("  {}  {}, free", printable(&task.title), task.status.as_str()), Style::Plain);
        line.print(out)?;
    }
    if queue.ready.is_empty() {
        let held = match queue.held_count {
            0 => String::new(),
            held => format!(" {held} held (colibri tasks --held)."),
        };
        line(out, look.screen, &format!("No task is free.{held}"), Style::Plain)?;
    }
    for Shown { task, waiting_for, .. } in &queue.blocked {
        let waits: Vec<String> = waiting_for.iter().map(wait).collect();
        let mut line = Line::new(look.screen);
        line.push("blocked", Style::Red);
        line.push(
            &format!("  {}  {} waits for {}", short(&task.id), printable(&task.title), waits.join(", ")),
            Style::Plain,
        );
        line.print(out)?;
    }
    for (more, option) in [
        (queue.ready_count - queue.ready.len() as i64, "colibri tasks --ready"),
        (queue.blocked_count - queue.blocked.len() as i64, "colibri tasks --blocked"),
    ] {
        if more > 0 {
            line(out, look.screen, &format!("{more} more: {option}"), Style::Dim)?;
        }
    }
    Ok(())
}

fn wait(prerequisite: &Prerequisite) -> String {
    let state = if prerequisite.deleted { "deleted" } else { prerequisite.status.as_str() };
    format!("{} ({state})", short(&prerequisite.id))
}
