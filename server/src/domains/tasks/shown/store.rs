//! The SQL of lists for people.

use std::collections::HashMap;

use colibri_runtime::handler::Fault;

use super::{Counts, Filter, Group, Node, Prerequisite};
use crate::catalogue::{BriefTask, TaskHold, TaskStatus};
use crate::domains::tasks::store::{BLOCKED, Listed, OPEN, Query, RANK, and_is, held, read_status};
use colibri_store::callers::{CallerRow, caller};
use colibri_store::db::{Bind, Db, Row, RowError, Value};
use colibri_store::params;

/// Starts a condition with what is asked of all groups.
fn base(filter: &Filter) -> Query<'_> {
    let mut query = Query { sql: "t.deleted_at IS NULL".to_owned(), params: Vec::new() };
    if let Some(project) = &filter.project {
        and_is(&mut query, "project_id", Some(project));
    }
    if let Some(assignee) = &filter.assignee {
        and_is(&mut query, "assignee", Some(assignee));
    }
    query
}

/// Returns the group of a row as a number, for [`group_at`].
fn group_of<'a>(query: &mut Query<'a>, bounds: &'a [String; 2]) -> String {
    format!(
        "CASE WHEN NOT ({OPEN}) THEN 3 WHEN {} THEN 1 WHEN {BLOCKED} THEN 2 ELSE 0 END",
        held(query, bounds)
    )
}

fn group_at(row: &Row<'_>, at: usize) -> Result<Group, RowError> {
    Ok(match row.get(at)? {
        0_i64 => Group::Ready,
        1 => Group::Held,
        2 => Group::Blocked,
        _ => Group::Finished,
    })
}

/// Adds the conditions of a group and of states.
fn narrow<'a>(query: &mut Query<'a>, filter: &'a Filter, bounds: &'a [String; 2]) {
    let condition = match filter.group {
        Some(Group::Held) => format!("{OPEN} AND {}", held(query, bounds)),
        Some(Group::Blocked) => format!("{OPEN} AND NOT {} AND {BLOCKED}", held(query, bounds)),
        Some(Group::Ready) => format!("{OPEN} AND NOT {} AND NOT {BLOCKED}", held(query, bounds)),
        Some(Group::Finished) => format!("NOT ({OPEN})"),
        None if may_be_finished(filter) => "TRUE".to_owned(),
        None => OPEN.to_owned(),
    };
    query.sql.push_str(&format!(" AND {condition}"));
    if !filter.states.is_empty() {
        let places: Vec<String> = filter
            .states
            .iter()
            .map(|state| {
                query.params.push(Value::Text(state.as_str()));
                format!("?{}", query.params.len())
            })
            .collect();
        query.sql.push_str(&format!(" AND t.status IN ({})", places.join(", ")));
    }
}

/// Checks whether a filter finds finished tasks.
fn may_be_finished(filter: &Filter) -> bool {
    let is_finished = |state: &TaskStatus| matches!(state, TaskStatus::Done | TaskStatus::Cancelled);
    match filter.states.as_slice() {
        [] => filter.all || filter.group == Some(Group::Finished),
        states => states.iter().any(is_finished),
    }
}

/// The order of lists. Where all rows are open, the index of the queue has it.
fn order(filter: &Filter) -> String {
    let finished = if may_be_finished(filter) {
        "CASE WHEN t.status IN ('DONE', 'CANCELLED') THEN 1 ELSE 0 END, "
    } else {
        ""
    };
    format!("{finished}{RANK}, t.rowid")
}

/// Reads a task with its group, from columns behind which that of the group stands. Who holds it is behind that.
fn read(row: &Row<'_>) -> Result<(BriefTask, Group), RowError> {
    let (mut task, group) = (BriefTask::read(row)?, group_at(row, 7)?);
    if group == Group::Held {
        task.hold(TaskHold { by: row.get(8)?, until: row.get(9)? });
    }
    Ok((task, group))
}

/// Joins the claim of each task `t`, live or not.
const CLAIMED: &str = "tasks AS t LEFT JOIN task_claims AS h ON h.task_id = t.id";

/// Returns the first of the tasks that match.
pub(super) fn page(db: &Db, filter: &Filter, bounds: &[String; 2]) -> Result<Vec<(BriefTask, Group)>, Fault> {
    let mut query = base(filter);
    let group = group_of(&mut query, bounds);
    narrow(&mut query, filter, bounds);
    let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
    query.params.push(limit.bind());
    let sql = format!(
        "SELECT {}, {group}, h.agent_id, h.lease_until FROM {CLAIMED} WHERE {} ORDER BY {} LIMIT ?{}",
        BriefTask::COLUMNS,
        query.sql,
        order(filter),
        query.params.len(),
    );
    db.query_all(&sql, &query.params, read)
}

/// Counts the tasks that fit project and assignee, by group.
pub(super) fn counts(db: &Db, filter: &Filter, bounds: &[String; 2]) -> Result<Counts, Fault> {
    let mut query = base(filter);
    let held = held(&mut query, bounds);
    let sql = format!(
        "SELECT count(*), count(*) FILTER (WHERE {OPEN}), count(*) FILTER (WHERE {OPEN} AND {held}), \
         count(*) FILTER (WHERE {OPEN} AND {BLOCKED} AND NOT {held}) FROM tasks AS t WHERE {}",
        query.sql
    );
    let (live, open, held, blocked): (i64, i64, i64, i64) =
        db.query_one(&sql, &query.params, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(Counts { ready: open - held - blocked, held, blocked, finished: live - open })
}

/// Counts the tasks that match. Without states, the counts by group say it.
pub(super) fn count(db: &Db, filter: &Filter, bounds: &[String; 2], counts: Counts) -> Result<i64, Fault> {
    if filter.states.is_empty() {
        return Ok(match filter.group {
            Some(Group::Ready) => counts.ready,
            Some(Group::Held) => counts.held,
            Some(Group::Blocked) => counts.blocked,
            Some(Group::Finished) => counts.finished,
            None if filter.all => counts.open() + counts.finished,
            None => counts.open(),
        });
    }
    let mut query = base(filter);
    narrow(&mut query, filter, bounds);
    let sql = format!("SELECT count(*) FROM tasks AS t WHERE {}", query.sql);
    db.query_one(&sql, &query.params, |row| row.get(0))
}

/// Counts the tasks that match, by state. The filter has no states.
pub(super) fn counts_by_state(
    db: &Db,
    filter: &Filter,
    bounds: &[String; 2],
) -> Result<Vec<(TaskStatus, i64)>, Fault> {
    let mut query = base(filter);
    narrow(&mut query, filter, bounds);
    let sql = format!("SELECT t.status, count(*) FROM tasks AS t WHERE {} GROUP BY t.status", query.sql);
    db.query_all(&sql, &query.params, |row| Ok((read_status(row, 0)?, row.get(1)?)))
}

/// Returns the different values of a column, without NULL.
pub(super) fn names(db: &Db, column: &str) -> Result<Vec<String>, Fault> {
    let sql =
        format!("SELECT DISTINCT {column} FROM tasks WHERE deleted_at IS NULL AND {column} IS NOT NULL");
    db.query_all(&sql, &[], |row| row.get(0))
}

/// Hands over all tasks that fit project and assignee, in the order of lists, each with its group and its description.
pub(super) fn each(
    db: &Db,
    filter: &Filter,
    bounds: &[String; 2],
    mut take: impl FnMut(BriefTask, Group, Option<&str>),
) -> Result<(), Fault> {
    let mut query = base(filter);
    let group = group_of(&mut query, bounds);
    let sql = format!(
        "SELECT {}, {group}, h.agent_id, h.lease_until, t.description FROM {CLAIMED} WHERE {} ORDER BY {}",
        BriefTask::COLUMNS,
        query.sql,
        order(&Filter { all: true, ..Filter::default() }),
    );
    db.walk(&sql, &query.params, |row| {
        let (task, group) = read(row)?;
        take(task, group, row.get(10)?);
        Ok::<_, Fault>(true)
    })
}

/// How many tasks one statement asks for.
const AT_ONCE: usize = 200;

/// Returns the unfinished dependencies of these tasks in the order in which they were named, each behind the task that waits.
pub(super) fn prerequisites(db: &Db, ids: &[&str]) -> Result<Vec<(String, Prerequisite)>, Fault> {
    let mut found = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        let places: Vec<String> = (1..=some.len()).map(|at| format!("?{at}")).collect();
        let sql = format!(
            "SELECT d.task_id, b.id, b.title, b.status, b.deleted_at IS NOT NULL FROM task_dependencies AS d \
             JOIN tasks AS b ON b.id = d.depends_on_id WHERE b.status <> 'DONE' AND d.task_id IN ({}) ORDER BY d.rowid",
            places.join(", ")
        );
        let params: Vec<Value<'_>> = some.iter().map(|id| Value::Text(id)).collect();
        found.extend(db.query_all(&sql, &params, |row| {
            let status = read_status(row, 3)?;
            Ok((
                row.get(0)?,
                Prerequisite { id: row.get(1)?, title: row.get(2)?, status, deleted: row.get(4)? },
            ))
        })?);
    }
    Ok(found)
}

/// Returns the callers of the claims of these tasks, by the tasks' ids.
pub(super) fn callers_of_claims(db: &Db, ids: &[&str]) -> Result<HashMap<String, CallerRow>, Fault> {
    let (mut numbers, mut known) = (Vec::new(), HashMap::new());
    for some in ids.chunks(AT_ONCE) {
        let places: Vec<String> = (1..=some.len()).map(|at| format!("?{at}")).collect();
        let sql =
            format!("SELECT task_id, caller_no FROM task_claims WHERE task_id IN ({})", places.join(", "));
        let params: Vec<Value<'_>> = some.iter().map(|id| Value::Text(id)).collect();
        let found: Vec<(String, i64)> = db.query_all(&sql, &params, |row| Ok((row.get(0)?, row.get(1)?)))?;
        numbers.extend(found);
    }
    for (_, number) in &numbers {
        if !known.contains_key(number) {
            known.insert(*number, caller(db, *number)?);
        }
    }
    let row = |(id, number): (String, i64)| Some((id, known.get(&number)?.clone()?));
    Ok(numbers.into_iter().filter_map(row).collect())
}

/// Returns the tasks that wait for one, in the order in which they were made to.
pub(super) fn needed_by(db: &Db, id: &str) -> Result<Vec<BriefTask>, Fault> {
    let sql = format!(
        "SELECT {} FROM tasks AS t WHERE deleted_at IS NULL \
         AND id IN (SELECT task_id FROM task_dependencies WHERE depends_on_id = ?1) ORDER BY rowid",
        BriefTask::COLUMNS
    );
    db.query_all(&sql, params![id], BriefTask::read)
}

/// Returns the title of a task, deleted or not.
pub(super) fn title(db: &Db, id: &str) -> Result<Option<String>, Fault> {
    db.query_opt("SELECT title FROM tasks WHERE id = ?1", params![id], |row| row.get(0))
}

/// A dependency as the database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tie {
    /// The task that waits.
    pub(super) waits: String,
    /// The task that it waits for.
    pub(super) needs: String,
    /// The needed task is open.
    pub(super) open: bool,
    /// The needed task is DONE, so it keeps no other task waiting.
    pub(super) done: bool,
}

/// Returns the dependencies of open tasks, or of all live ones, and those of the root in any case, oldest first.
pub(super) fn ties(db: &Db, root: Option<&str>, all: bool) -> Result<Vec<Tie>, Fault> {
    let open = |name| format!("{name}.deleted_at IS NULL AND {name}.status NOT IN ('DONE', 'CANCELLED')");
    let wanted = if all { "t.deleted_at IS NULL".to_owned() } else { open("t") };
    let (also, params) = match root {
        Some(root) => (" OR t.id = ?1", vec![Value::Text(root)]),
        None => ("", Vec::new()),
    };
    let sql = format!(
        "SELECT d.task_id, d.depends_on_id, {}, b.status = 'DONE' FROM task_dependencies AS d \
         JOIN tasks AS t ON t.id = d.task_id JOIN tasks AS b ON b.id = d.depends_on_id WHERE ({wanted}){also} ORDER BY d.rowid",
        open("b")
    );
    db.query_all(&sql, &params, |row| {
        Ok(Tie { waits: row.get(0)?, needs: row.get(1)?, open: row.get(2)?, done: row.get(3)? })
    })
}

/// Returns the tasks with these ids, deleted ones too.
pub(super) fn nodes(db: &Db, ids: &[&str], bounds: &[String; 2]) -> Result<HashMap<String, Node>, Fault> {
    let mut found = HashMap::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let mut query = Query { sql: String::new(), params: Vec::new() };
        let group = group_of(&mut query, bounds);
        let first = query.params.len() + 1;
        let places: Vec<String> = (first..first + some.len()).map(|at| format!("?{at}")).collect();
        query.params.extend(some.iter().map(|id| Value::Text(id)));
        let sql = format!(
            "SELECT t.id, {group}, t.title, t.status, t.deleted_at IS NOT NULL FROM tasks AS t WHERE t.id IN ({})",
            places.join(", ")
        );
        let nodes = db.query_all(&sql, &query.params, |row| {
            let (group, status) = (group_at(row, 1)?, read_status(row, 3)?);
            Ok(Node { id: row.get(0)?, title: row.get(2)?, status, group, deleted: row.get(4)? })
        })?;
        found.extend(nodes.into_iter().map(|node| (node.id.clone(), node)));
    }
    Ok(found)
}
