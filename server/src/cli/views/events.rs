//! What happens to tasks, in words.

use colibri_visible::printable;
use serde_json::Value;

use crate::catalogue::{TaskEvent, TaskEventKind, TaskStatus};
use crate::cli::ids::short;
use crate::cli::who::claimed;

/// The most characters that are shown of a text in a line.
const MOST_SHOWN: usize = 100;

/// The most characters that are shown of a value that changed.
const MOST_OF_VALUE: usize = 40;

/// Returns what an event did, without its task: `PLAN > APPLY`, `title "Old" > "New"`, `taken over from "claude-3"`.
pub fn words(event: &TaskEvent) -> String {
    match event.kind {
        TaskEventKind::Created => created(event.to),
        TaskEventKind::Migrated => format!("known since an update, in {}", event.to.as_str()),
        TaskEventKind::Claimed => numbered("claimed", event),
        TaskEventKind::Renewed => numbered("claim renewed", event),
        TaskEventKind::TakenOver => format!("taken over from {}", held_by(event)),
        TaskEventKind::Released => numbered("given back", event),
        _ => {
            let step = event.from.filter(|from| *from != event.to);
            let step = step.map(|from| format!("{} > {}", from.as_str(), event.to.as_str()));
            let parts: Vec<String> = step.into_iter().chain(fields(event)).collect();
            if parts.is_empty() { "changed nothing".to_owned() } else { parts.join(", ") }
        }
    }
}

/// Says in which state a task was created.
pub fn created(state: TaskStatus) -> String {
    format!("created in {}", state.as_str())
}

fn numbered(what: &str, event: &TaskEvent) -> String {
    event.claim.map_or_else(|| what.to_owned(), |claim| format!("{what} (claim {claim})"))
}

/// Returns who held a task before another agent took it over.
pub fn held_by(event: &TaskEvent) -> String {
    let old = event.changes.iter().find(|(name, _)| *name == "held_by").map(|(_, change)| &change.old);
    old.and_then(|old| old.as_str()).map_or_else(|| "-".to_owned(), claimed)
}

/// Names the fields that changed, each with its old and its new value.
pub fn fields(event: &TaskEvent) -> Option<String> {
    let changes: Vec<String> = event
        .changes
        .iter()
        .filter(|(name, _)| *name != "held_by")
        .map(|(name, change)| format!("{name} {} > {}", value(&change.old), value(&change.new)))
        .collect();
    (!changes.is_empty()).then(|| changes.join(", "))
}

/// Returns a value of a field: a text in quotes, ids by their short forms, `-` where there is none.
fn value(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let mut lines = text.lines();
            let shown = shortened(lines.next().unwrap_or_default(), MOST_OF_VALUE);
            let more = if lines.next().is_some() && !shown.ends_with('…') { "…" } else { "" };
            claimed(&format!("{shown}{more}"))
        }
        Value::Array(ids) => {
            let ids: Vec<String> = ids.iter().filter_map(Value::as_str).map(short).collect();
            if ids.is_empty() { "-".to_owned() } else { ids.join("+") }
        }
        _ => "-".to_owned(),
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the first line of a text, shortened.
pub fn first_line(text: &str) -> String {
    shortened(&printable(text.trim_start().lines().next().unwrap_or_default()), MOST_SHOWN)
}

/// Returns a task's short id and title.
pub fn named(id: &str, title: Option<&str>) -> String {
    match title {
        Some(title) => format!("{} {}", short(id), first_line(title)),
        None => short(id),
    }
}
