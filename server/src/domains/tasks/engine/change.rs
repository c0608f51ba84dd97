//! What a call changes of a task: the task afterwards, and the changed fields as a history stores them (tasks#history).

use colibri_canonical::escape::push_string;

use crate::catalogue::Task;
use crate::domains::tasks::input::TaskPatch;

/// The changes of an event that changes no field.
pub const NOTHING: &str = "{}";

/// Returns the task as a patch leaves it. Dependencies that stay keep their places, and new ones follow. The time of the last
/// change never moves backwards.
pub fn patched(current: &Task, patch: &TaskPatch, now: &str) -> Task {
    let mut task = current.clone();
    if let Some(title) = &patch.title {
        task.title.clone_from(title);
    }
    if let Some(status) = patch.status {
        task.status = status;
    }
    for (field, value) in [
        (&mut task.project_id, &patch.project_id),
        (&mut task.description, &patch.description),
        (&mut task.priority, &patch.priority),
        (&mut task.assignee, &patch.assignee),
    ] {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    if let Some(wanted) = &patch.depends_on {
        task.depends_on = replaced(current.depends_on.as_deref().unwrap_or_default(), wanted);
    }
    if task.updated_at.as_str() < now {
        now.clone_into(&mut task.updated_at);
    }
    task
}

fn replaced(old: &[String], wanted: &[String]) -> Option<Vec<String>> {
    let kept = old.iter().filter(|id| wanted.contains(id));
    let added = wanted.iter().filter(|id| !old.contains(id));
    let all: Vec<String> = kept.chain(added).cloned().collect();
    if all.is_empty() { None } else { Some(all) }
}

/// Returns the changed fields as canonical JSON, each with its old and its new value.
pub fn difference(before: &Task, after: &Task) -> String {
    written(&fields(before), &fields(after))
}

/// Returns every field that has a value, as a history begins with it. The time of creation is in the event itself, unless the
/// history begins later.
pub fn whole(task: &Task, begins_later: bool) -> String {
    let mut after = fields(task);
    if !begins_later && let Some(created_at) = after.get_mut(CREATED_AT) {
        created_at.1 = Field::Null;
    }
    written(&after.map(|(name, _)| (name, Field::Null)), &after)
}

/// Returns the change of a claim that ran out and went to another agent.
pub fn held_by(old: &str, new: &str) -> String {
    written(&[("held_by", Field::Text(old))], &[("held_by", Field::Text(new))])
}

/// The place of the time of creation in [`fields`].
const CREATED_AT: usize = 1;

/// A value of a field, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field<'a> {
    Null,
    Text(&'a str),
    List(&'a [String]),
}

/// The fields that a history knows, sorted by name.
fn fields(task: &Task) -> [(&'static str, Field<'_>); 8] {
    [
        ("assignee", optional(task.assignee.as_deref())),
        ("created_at", Field::Text(&task.created_at)),
        ("deleted_at", optional(task.deleted_at.as_deref())),
        ("depends_on", task.depends_on.as_deref().map_or(Field::Null, Field::List)),
        ("description", optional(task.description.as_deref())),
        ("priority", optional(task.priority.as_deref())),
        ("project_id", optional(task.project_id.as_deref())),
        ("title", Field::Text(&task.title)),
    ]
}

fn optional(value: Option<&str>) -> Field<'_> {
    value.map_or(Field::Null, Field::Text)
}

fn written(before: &[(&str, Field<'_>)], after: &[(&str, Field<'_>)]) -> String {
    let mut out = String::from("{");
    for ((name, old), (_, new)) in before.iter().zip(after) {
        if old == new {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        push_string(&mut out, name);
        out.push_str(":[");
        push(&mut out, *old);
        out.push(',');
        push(&mut out, *new);
        out.push(']');
    }
    out.push('}');
    out
}

fn push(out: &mut String, value: Field<'_>) {
    match value {
        Field::Null => out.push_str("null"),
        Field::Text(text) => push_string(out, text),
        Field::List(list) => {
            for (index, item) in list.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                push_string(out, item);
            }
            out.push_str(if list.is_empty() { "[]" } else { "]" });
        }
    }
}
