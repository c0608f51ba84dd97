//! `colibri tasks`: the tasks in the queue's order.

use std::io::Write;

use colibri_runtime::handler::Fault;
use colibri_suggest::closest;
use colibri_visible::printable;

use super::Look;
use super::table::{Cell, Column, NO_VALUE, Style, Table, line, wrapped};
use crate::catalogue::{TaskStatus, ToolId};
use crate::cli::Failure;
use crate::cli::arguments::views::Tasks;
use crate::cli::ids::short;
use crate::cli::moments::Clock;
use crate::cli::output::print_json;
use crate::cli::who::Who;
use crate::domains::tasks::shown::columns::{Field, names};
use crate::domains::tasks::shown::{Counts, Filter, Group, Shown, list};
use colibri_store::db::Db;

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
        let all = found.tasks.len() as i64 + found.left_out;
        let more = format!("{} more; --limit {all} shows them.", found.left_out);
        line(out, look.screen, &more, Style::Dim)?;
    }
    let summary = summary(found.counts, arguments.all);
    let is_part = filter.group.is_some() || !filter.states.is_empty();
    if found.tasks.is_empty() && (is_part || summary.is_none()) {
        print_nothing(&filter, look, out)?;
    }
    summary.map_or(Ok(()), |summary| Ok(line(out, look.screen, &summary, Style::Dim)?))
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
        let who = Who::agent(&held.by, shown.held_caller.as_ref());
        return format!("{who}, {}", clock.span(&held.until));
    }
    match shown.waiting_for.as_slice() {
        [] => NO_VALUE.to_owned(),
        [one] => format!("waits for {}", short(&one.id)),
        [first, others @ ..] => format!("waits for {} and {} more", short(&first.id), others.len()),
    }
}

/// Prints that no task is shown, and what may help.
pub(super) fn print_nothing(filter: &Filter, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    for text in wrapped(&nothing(&look.db, filter)?, look.screen.width, 0) {
        line(out, look.screen, &text, Style::Dim)?;
    }
    Ok(())
}

fn nothing(db: &Db, filter: &Filter) -> Result<String, Fault> {
    for (option, field, value) in
        [("project", Field::Project, &filter.project), ("assignee", Field::Assignee, &filter.assignee)]
    {
        let Some(value) = value else { continue };
        let known = names(db, field)?;
        if known.contains(value) {
            continue;
        }
        let meant = match closest(value, known.iter().map(String::as_str)) {
            Some(close) => format!("did you mean {}?", printable(close)),
            None => "check the name".to_owned(),
        };
        return Ok(format!("No task has the {option} {}; {meant}", printable(value)));
    }
    let any = Filter { all: true, limit: 1, ..Filter::default() };
    let narrows = *filter != Filter { all: filter.all, limit: filter.limit, ..Filter::default() };
    Ok(match (list(db, &any, 0)?.tasks.is_empty(), narrows) {
        (true, _) => format!(
            "No task yet. Agents make tasks; you can, too: colibri call {} '{{\"title\": \"A first task\"}}'",
            ToolId::TaskCreate.name()
        ),
        (false, true) => "No task matches.".to_owned(),
        (false, false) => "No open task; colibri tasks --all shows finished ones.".to_owned(),
    })
}

/// Counts the tasks that fit all filters but those for groups and states; `None` without any.
fn summary(counts: Counts, all: bool) -> Option<String> {
    let Counts { ready, held, blocked, finished } = counts;
    let open = counts.open();
    if open + finished == 0 {
        return None;
    }
    let hint = if all { "" } else { " (--all)" };
    let open = match open {
        0 => "None open.".to_owned(),
        _ => format!("{open} open: {ready} ready, {held} held, {blocked} blocked."),
    };
    Some(match finished {
        0 => open,
        _ => format!("{open} {finished} finished{hint}."),
    })
}
