//! `colibri task`: one task with all that belongs to it.

use std::io::{self, Write};

use colibri_runtime::chain::Interrupt;
use colibri_runtime::progress::Progress;
use colibri_visible::{printable, printable_lines};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::Look;
use super::events::{first_line, words};
use super::ids::{Kind, resolve, short};
use super::sessions::seal;
use super::table::{Line, Screen, Style, line};
use super::tasks::style;
use crate::catalogue::{TaskEventCaller, TaskHistoryOutput, TaskStatus, ToolId};
use crate::cli::Failure;
use crate::cli::arguments::views::Task;
use crate::cli::output::print_json;
use crate::cli::who::UNCHECKED;
use crate::domains::proof::listing::{self, Filter, Listed};
use crate::domains::tasks::history::history;
use crate::domains::tasks::shown::{Group, Prerequisite, Whole, whole};
use crate::domains::trail::service::{StoredContent, StoredThought, newest_of_task};

/// How many events and thoughts are shown unless all are wanted.
const NEWEST: usize = 20;
/// The most that are shown of each.
const MOST: usize = 10_000;
/// The width of the names of the parts.
const NAMES: usize = 12;

/// All of a task.
struct Page {
    task: Whole,
    sessions: Vec<Listed>,
    history: TaskHistoryOutput,
    thoughts: Vec<StoredThought>,
}

pub(super) fn run(arguments: &Task, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let id = resolve(&look.db, Kind::Task, &arguments.id)?;
    let most = if arguments.all { MOST } else { NEWEST };
    let page = read(&id, most, look)?.ok_or_else(|| Failure::Usage(format!("there is no task {id:?}")))?;
    if look.json { Ok(print_json(out, &document(&page))?) } else { Ok(print(&page, most, look, out)?) }
}

/// Returns the lines of a task, as the command prints them without a terminal.
pub(super) fn lines(id: &str, look: &Look) -> Result<Vec<String>, Failure> {
    let Some(page) = read(id, NEWEST, look)? else { return Ok(vec!["The task is gone.".to_owned()]) };
    let mut text = Vec::new();
    print(&page, NEWEST, look, &mut text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

fn read(id: &str, most: usize, look: &Look) -> Result<Option<Page>, Failure> {
    let (db, now_ms) = (&look.db, look.clock.now_ms());
    let Some(task) = whole(db, id, now_ms)? else { return Ok(None) };
    let Some(history) = history(db, id, i64::try_from(most).unwrap_or(i64::MAX), None)? else {
        return Ok(None);
    };
    let filter = Filter { state: None, task_id: Some(id.to_owned()), limit: most, before: None };
    let sessions = listing::list(db, &filter, now_ms, &Interrupt::default(), &Progress::default())
        .map_err(super::sessions::explain)?
        .sessions;
    Ok(Some(Page { task, sessions, history, thoughts: newest_of_task(db, id, most)? }))
}

fn document(page: &Page) -> serde_json::Value {
    let thoughts = page.thoughts.iter().map(|thought| {
        json!({
            "id": thought.id, "type": thought.kind, "agent_id": thought.agent_id, "timestamp": thought.timestamp,
            "session_id": thought.session_id, "content": text(thought),
        })
    });
    let sessions: Vec<_> = page.sessions.iter().map(super::sessions::shown).collect();
    json!({ "task": page.task, "sessions": sessions, "history": page.history, "thoughts": thoughts.collect::<Vec<_>>() })
}

fn text(thought: &StoredThought) -> Option<&str> {
    match &thought.content {
        StoredContent::Kept(text) => Some(text),
        StoredContent::Gone { .. } => None,
    }
}

fn print(page: &Page, most: usize, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let screen = look.screen;
    print_head(&page.task, look, out)?;
    let task = &page.task;
    let waits: Vec<[String; 3]> = task
        .waiting_for
        .iter()
        .map(|one| {
            [
                short(&one.id),
                if one.deleted { "deleted" } else { one.status.as_str() }.to_owned(),
                printable(&one.title).into_owned(),
            ]
        })
        .collect();
    rows(out, screen, "waits for", &waits)?;
    let needed: Vec<[String; 3]> = task
        .needed_by
        .iter()
        .map(|one| [short(&one.id), one.status.as_str().to_owned(), printable(&one.title).into_owned()])
        .collect();
    rows(out, screen, "needed by", &needed)?;
    if let Some(remedy) = remedy(task) {
        line(out, screen, &remedy, Style::Red)?;
    }
    let sessions: Vec<[String; 3]> = page
        .sessions
        .iter()
        .map(|listed| {
            let records = if listed.record_count == 1 { "record" } else { "records" };
            let state = super::sessions::word(listed.state);
            [
                short(&listed.session.session_id),
                format!("{state}, {} {records}", listed.record_count),
                sealed(listed),
            ]
        })
        .collect();
    rows(out, screen, "sessions", &sessions)?;
    let mut callers = false;
    let events: Vec<[String; 5]> = page
        .history
        .events
        .iter()
        .map(|event| {
            callers |= event.who.is_some();
            [
                event.event_no.to_string(),
                look.clock.show(&event.at),
                words(event),
                caller(event.who.as_ref()),
                event.call.map_or(String::new(), |call| format!("call {call}")),
            ]
        })
        .collect();
    rows(out, screen, "history", &events)?;
    let more = page.history.total_count - events.len() as i64;
    if more > 0 {
        line(out, screen, &format!("{:NAMES$}{more} older; --all shows them.", ""), Style::Dim)?;
    }
    let thoughts: Vec<[String; 4]> = page.thoughts.iter().map(|thought| thought_row(thought, look)).collect();
    rows(out, screen, "thoughts", &thoughts)?;
    if thoughts.len() == most && most < MOST {
        line(out, screen, &format!("{:NAMES$}Older ones: --all.", ""), Style::Dim)?;
    }
    if callers { line(out, screen, UNCHECKED, Style::Dim) } else { Ok(()) }
}

fn sealed(listed: &Listed) -> String {
    if listed.finalized_at.is_some() { seal(listed) } else { String::new() }
}

fn thought_row(thought: &StoredThought, look: &Look) -> [String; 4] {
    let said = text(thought).map_or_else(|| "content given up".to_owned(), first_line);
    [
        look.clock.show(&thought.timestamp),
        printable(&thought.kind).into_owned(),
        printable(&thought.agent_id).into_owned(),
        said,
    ]
}

/// Prints title and id, and below them the state with what belongs to it.
fn print_head(whole: &Whole, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let task = &whole.task;
    let mut head = Line::new(look.screen);
    head.push(&printable(&task.title), Style::Bold);
    head.push(&format!("  {}", printable(&task.id)), Style::Dim);
    head.print(out)?;
    let mut state = Line::new(look.screen);
    state.push(task.status.as_str(), style(whole.group));
    let parts = [("priority", &task.priority), ("project", &task.project_id), ("assignee", &task.assignee)];
    for (name, value) in parts {
        if let Some(value) = value {
            state.push(&format!(", {name} {}", printable(value)), Style::Plain);
        }
    }
    if let (Some(held), Some(claim)) = (&task.held, whole.claim) {
        let text = format!(
            "; held by {} until {} (claim {claim})",
            printable(&held.by),
            look.clock.show(&held.until)
        );
        state.push(&text, Style::Yellow);
    }
    if let Some(deleted) = &task.deleted_at {
        state.push(&format!("; deleted {}", look.clock.show(deleted)), Style::Red);
    }
    state.print(out)?;
    if let Some(description) = &task.description {
        for text in printable_lines(description).lines() {
            line(out, look.screen, text, Style::Plain)?;
        }
    }
    Ok(())
}

/// Says how a wait ends that would never end by itself.
fn remedy(task: &Whole) -> Option<String> {
    let is_hopeless = |one: &Prerequisite| one.deleted || one.status == TaskStatus::Cancelled;
    let hopeless: Vec<String> =
        task.waiting_for.iter().filter(|one| is_hopeless(one)).map(|one| short(&one.id)).collect();
    (task.group == Group::Blocked && !hopeless.is_empty()).then(|| {
        let ids = hopeless.join(", ");
        format!(
            "{ids} will never be {}: drop the dependency with {}, or create the missing work anew.",
            TaskStatus::Done.as_str(),
            ToolId::TaskUpdate.name()
        )
    })
}

/// Prints rows in columns, the first behind a name. A part without rows shows `-`.
fn rows<const N: usize>(
    out: &mut dyn Write,
    screen: Screen,
    name: &str,
    rows: &[[String; N]],
) -> io::Result<()> {
    if rows.is_empty() {
        return line(out, screen, &format!("{name:NAMES$}-"), Style::Plain);
    }
    let mut widths = [0; N];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.width());
        }
    }
    for (at, row) in rows.iter().enumerate() {
        let mut text = format!("{:NAMES$}", if at == 0 { name } else { "" });
        for (part, width) in row.iter().zip(widths) {
            let blank = width - part.width() + 2;
            text.push_str(part);
            text.extend(std::iter::repeat_n(' ', blank));
        }
        line(out, screen, text.trim_end(), Style::Plain)?;
    }
    Ok(())
}

/// Returns who made the call of an event.
fn caller(who: Option<&TaskEventCaller>) -> String {
    let Some(who) = who else { return "-".to_owned() };
    let (actor, client) = (who.actor.as_deref().map(printable), who.client.as_deref().map(printable));
    match (actor, client) {
        (Some(actor), Some(client)) => format!("{actor} ({client})"),
        (Some(name), None) | (None, Some(name)) => name.into_owned(),
        (None, None) => format!("{}@{}", printable(&who.os_user), printable(&who.host)),
    }
}
