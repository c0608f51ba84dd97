//! `colibri task`: one task with all that belongs to it.

use std::io::{self, Write};
use std::sync::Arc;

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Fault;
use colibri_runtime::progress::Progress;
use colibri_visible::{printable, printable_lines};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::Look;
use super::events::{first_line, words};
use super::sessions::seal;
use super::table::{GAP, Line, Screen, Style, line, wrapped};
use super::tasks::style;
use crate::catalogue::{TaskEvent, TaskHistoryOutput, TaskStatus, ToolId};
use crate::cli::Failure;
use crate::cli::arguments::views::Task;
use crate::cli::ids::{Kind, resolve, short};
use crate::cli::output::print_json;
use crate::cli::who::{Shared, UNCHECKED, Who};
use crate::domains::proof::listing::{self, Filter, Listed};
use crate::domains::tasks::history::{claim_of_change, history};
use crate::domains::tasks::shown::{Group, Prerequisite, Whole, whole};
use crate::domains::trail::service::{StoredContent, StoredThought, newest_of_task};
use crate::domains::trail::sessions_of_task;
use colibri_store::callers::caller;
use colibri_store::db::Db;

/// How many events and thoughts are shown unless all are wanted.
const NEWEST: usize = 20;
/// The most that are shown of each.
const MOST: usize = 10_000;
/// The width of the names of the parts.
const NAMES: usize = 12;
/// Where the further lines of a thought begin.
pub(super) const HANGING: usize = NAMES + GAP;

/// All of a task.
struct Page {
    task: Whole,
    /// Those that were started for it, and those of its thoughts.
    sessions: Vec<Listed>,
    history: TaskHistoryOutput,
    /// Who made each event.
    whos: Vec<Who>,
    thoughts: Vec<StoredThought>,
    /// Who recorded each thought.
    authors: Vec<Who>,
}

pub(super) fn run(arguments: &Task, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let id = resolve(&look.db, Kind::Task, &arguments.id)?;
    let most = if arguments.all { MOST } else { NEWEST };
    let page = read(&id, most, look)?.ok_or_else(|| Failure::Usage(format!("there is no task {id:?}")))?;
    if look.json { Ok(print_json(out, &document(&page))?) } else { Ok(print(&page, most, look, out)?) }
}

/// Returns the lines of a task, as the command prints them without a terminal: none is cut.
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
    let mut sessions = listing::list(db, &filter, now_ms, &Interrupt::default(), &Progress::default())
        .map_err(super::sessions::explain)?
        .sessions;
    for session_id in sessions_of_task(db, id, most)? {
        if sessions.iter().all(|listed| listed.session.session_id != session_id) {
            sessions.extend(listing::one(db, &session_id, now_ms)?);
        }
    }
    sessions.sort_by(|one, other| other.session.started_at.cmp(&one.session.started_at));
    let whos = history.events.iter().map(|event| who(db, id, event)).collect::<Result<_, _>>()?;
    let thoughts = newest_of_task(db, id, most)?;
    let authors = thoughts.iter().map(|thought| Who::of_call(db, &thought.agent_id, thought.sequence_no));
    let authors = authors.collect::<Result<_, _>>()?;
    Ok(Some(Page { task, sessions, history, whos, thoughts, authors }))
}

/// Returns who made an event: the agent whose claim it is, or whose claim it needed, and the caller.
fn who(db: &Db, task_id: &str, event: &TaskEvent) -> Result<Who, Fault> {
    let agent = match event.agent_id.clone() {
        Some(agent) => Some(agent),
        None => claim_of_change(db, task_id, event)?.map(|(agent, _)| agent),
    };
    let caller = match &event.who {
        Some(who) => caller(db, who.caller)?,
        None => None,
    };
    Ok(Who::new(agent, caller.map(Arc::new)))
}

fn document(page: &Page) -> serde_json::Value {
    let thoughts = page.thoughts.iter().zip(&page.authors).map(|(thought, author)| {
        json!({
            "id": thought.id, "type": thought.kind, "agent_id": thought.agent_id, "timestamp": thought.timestamp,
            "session_id": thought.session_id, "content": text(thought), "call": thought.sequence_no,
            "caller": author.row(),
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
    let events: Vec<[String; 5]> = page
        .history
        .events
        .iter()
        .zip(&page.whos)
        .map(|(event, who)| {
            [
                event.event_no.to_string(),
                look.clock.show(&event.at),
                words(event),
                who.to_string(),
                event.call.map_or(String::new(), |call| format!("call {call}")),
            ]
        })
        .collect();
    rows(out, screen, "history", &events)?;
    let more = page.history.total_count - events.len() as i64;
    if more > 0 {
        line(out, screen, &format!("{:NAMES$}{more} older; --all shows them.", ""), Style::Dim)?;
    }
    print_thoughts(page, most, look, out)?;
    let all = || page.whos.iter().chain(&page.authors);
    let mut shared = Shared::default();
    all().for_each(|who| shared.take(who));
    for note in shared.notes() {
        line(out, screen, &note, Style::Yellow)?;
    }
    if all().any(Who::is_known) { line(out, screen, UNCHECKED, Style::Dim) } else { Ok(()) }
}

fn sealed(listed: &Listed) -> String {
    if listed.finalized_at.is_some() { seal(listed) } else { String::new() }
}

/// Prints the thoughts: whole if all are wanted or nothing is cut, else a line each.
fn print_thoughts(page: &Page, most: usize, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let screen = look.screen;
    let is_whole = most == MOST || screen.width.is_none();
    let thoughts = page.thoughts.iter().zip(&page.authors);
    let heads: Vec<[String; 3]> = thoughts.map(|(thought, who)| thought_head(thought, who, look)).collect();
    let mut is_cut = false;
    for (head, thought) in aligned("thoughts", &heads).iter().zip(&page.thoughts) {
        let said = text(thought).unwrap_or("content pruned").trim();
        if !is_whole {
            is_cut |= said.lines().nth(1).is_some();
            let row = format!("{head}  {}", first_line(said));
            is_cut |= screen.width.is_some_and(|width| row.width() > width);
            line(out, screen, &row, Style::Plain)?;
            continue;
        }
        let said = printable_lines(said);
        let mut said = said.lines();
        let first = format!("{head}  {}", said.next().unwrap_or_default());
        for row in std::iter::once(first).chain(said.map(|more| format!("{:HANGING$}{more}", ""))) {
            for part in wrapped(row.trim_end(), screen.width, HANGING) {
                line(out, screen, &part, Style::Plain)?;
            }
        }
    }
    if heads.is_empty() {
        rows(out, screen, "thoughts", &heads)?;
    }
    let hint = match (page.thoughts.len() == most && most < MOST, is_cut) {
        (true, _) => "Older ones, and all of each: --all.",
        (false, true) => "All of each: --all.",
        (false, false) => return Ok(()),
    };
    line(out, screen, &format!("{:NAMES$}{hint}", ""), Style::Dim)
}

fn thought_head(thought: &StoredThought, who: &Who, look: &Look) -> [String; 3] {
    [look.clock.show(&thought.timestamp), printable(&thought.kind).into_owned(), who.to_string()]
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
            Who::agent(&held.by, whole.held_caller.as_ref()),
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
            for part in wrapped(text, look.screen.width, 0) {
                line(out, look.screen, &part, Style::Plain)?;
            }
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
    aligned(name, rows).iter().try_for_each(|row| line(out, screen, row.trim_end(), Style::Plain))
}

/// Returns rows in columns, the first behind a name.
fn aligned<const N: usize>(name: &str, rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.width());
        }
    }
    let row_of = |(at, row): (usize, &[String; N])| {
        let mut text = format!("{:NAMES$}", if at == 0 { name } else { "" });
        for (place, (part, width)) in row.iter().zip(widths).enumerate() {
            let gap = if place + 1 < N { GAP } else { 0 };
            text.push_str(part);
            text.extend(std::iter::repeat_n(' ', width - part.width() + gap));
        }
        text
    };
    rows.iter().enumerate().map(row_of).collect()
}
