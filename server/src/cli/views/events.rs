//! What happens to tasks, in words.

use colibri_visible::printable;

use crate::catalogue::{TaskEvent, TaskEventKind};
use crate::cli::ids::short;

/// The most characters that are shown of a text in a line.
const MOST_SHOWN: usize = 100;

/// Returns what an event did, without its task: `PLAN > APPLY`, `taken over from claude-3`.
pub fn words(event: &TaskEvent) -> String {
    let agent = || printable(event.agent_id.as_deref().unwrap_or("-")).into_owned();
    match event.kind {
        TaskEventKind::Created => format!("created in {}", event.to.as_str()),
        TaskEventKind::Migrated => format!("known since an update, in {}", event.to.as_str()),
        TaskEventKind::Claimed => format!("claimed by {}", agent()),
        TaskEventKind::Renewed => format!("claim renewed by {}", agent()),
        TaskEventKind::TakenOver => format!("taken over from {}", printable(&held_by(event))),
        TaskEventKind::Released => format!("given back by {}", agent()),
        _ => {
            let step = event.from.filter(|from| *from != event.to);
            let step = step.map(|from| format!("{} > {}", from.as_str(), event.to.as_str()));
            let fields = fields(event).map(|fields| format!("changed {fields}"));
            let parts: Vec<String> = step.into_iter().chain(fields).collect();
            if parts.is_empty() { "changed nothing".to_owned() } else { parts.join(", ") }
        }
    }
}

/// Returns who held a task before another agent took it over.
pub fn held_by(event: &TaskEvent) -> String {
    let old = event.changes.iter().find(|(name, _)| *name == "held_by").map(|(_, change)| &change.old);
    old.and_then(|old| old.as_str()).unwrap_or("-").to_owned()
}

/// Names the fields that changed.
pub fn fields(event: &TaskEvent) -> Option<String> {
    let names: Vec<&str> =
        event.changes.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "held_by").collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Returns the first line of a text, shortened.
pub fn first_line(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let line = printable(line);
    match line.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}

/// Returns a task's short id and title.
pub fn named(id: &str, title: Option<&str>) -> String {
    match title {
        Some(title) => format!("{} {}", short(id), first_line(title)),
        None => short(id),
    }
}
