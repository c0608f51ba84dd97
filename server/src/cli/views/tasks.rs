//! `colibri tasks`: the tasks in the queue's order.

use std::io::Write;

use super::Look;
use super::ids::short;
use super::table::{Cell, Column, Style, Table, line};
use crate::catalogue::TaskStatus;
use crate::cli::Failure;
use crate::cli::arguments::views::Tasks;
use crate::cli::moments::Clock;
use crate::cli::output::print_json;
use crate::domains::tasks::shown::{Counts, Filter, Group, Shown, list};

/// The columns of a list of tasks.
const COLUMNS: [Column; 8] = [
    Column::whole("ID"),
    Column::whole("STATE"),
    Column::giving("PRIORITY", 4),
    Column::giving("TITLE", 8),
    Column::giving("PROJECT", 4),
    Column::giving("ASSIGNEE", 4),
    Column::giving("HELD BY / WAITS FOR", 7),
    Column::giving("CHANGED", 5),
];

pub(super) fn run(arguments: &Tasks, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let filter = filter(arguments);
    let found = list(&look.db, &filter, look.clock.now_ms())?;
    if look.json {
        return Ok(print_json(out, &found)?);
    }
    let mut table = Table::new(COLUMNS);
    for shown in &found.tasks {
        let task = &shown.task;
        table.push([
            short(&task.id).into(),
            Cell::styled(task.status.as_str(), style(shown.group)),
            task.priority.as_deref().into(),
            task.title.as_str().into(),
            task.project_id.as_deref().into(),
            task.assignee.as_deref().into(),
            obstacle(shown, &look.clock).into(),
            look.clock.show(&task.updated_at).into(),
        ]);
    }
    table.print(out, look.screen)?;
    if found.left_out > 0 {
        let more = format!("{} more; --limit shows them.", found.left_out);
        line(out, look.screen, &more, Style::Dim)?;
    }
    Ok(line(out, look.screen, &summary(found.counts, arguments.all), Style::Dim)?)
}

fn filter(arguments: &Tasks) -> Filter {
    let group = match arguments {
        Tasks { ready: true, .. } => Some(Group::Ready),
        Tasks { held: true, .. } => Some(Group::Held),
        Tasks { blocked: true, .. } => Some(Group::Blocked),
        _ => None,
    };
    Filter {
        group,
        states: arguments
            .status
            .iter()
            .filter_map(|state| state.to_uppercase().parse::<TaskStatus>().ok())
            .collect(),
        all: arguments.all,
        project: arguments.project.clone(),
        assignee: arguments.assignee.clone(),
        search: arguments.search.clone(),
        limit: arguments.limit as usize,
    }
}

/// Returns the colour of a group.
pub(super) fn style(group: Group) -> Style {
    match group {
        Group::Ready => Style::Green,
        Group::Held => Style::Yellow,
        Group::Blocked => Style::Red,
        Group::Finished => Style::Dim,
    }
}

/// Says who holds a task, or what it waits for.
pub(super) fn obstacle(shown: &Shown, clock: &Clock) -> String {
    if let Some(held) = &shown.task.held {
        return format!("{}, {}", held.by, clock.span(&held.until));
    }
    match shown.waiting_for.as_slice() {
        [] => "-".to_owned(),
        [one] => format!("waits for {}", short(&one.id)),
        [first, others @ ..] => format!("waits for {} and {} more", short(&first.id), others.len()),
    }
}

fn summary(counts: Counts, all: bool) -> String {
    let Counts { ready, held, blocked, finished } = counts;
    let open = counts.open();
    if open + finished == 0 {
        return "No task matches.".to_owned();
    }
    let hint = if all { "" } else { " (--all)" };
    let open = match open {
        0 => "None open.".to_owned(),
        _ => format!("{open} open: {ready} ready, {held} held, {blocked} blocked."),
    };
    match finished {
        0 => open,
        _ => format!("{open} {finished} finished{hint}."),
    }
}
