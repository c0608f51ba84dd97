//! The tasks' SQL: rows in, rows out. `service.rs` decides what may be written.

use std::collections::{HashMap, HashSet};

use colibri_runtime::handler::Fault;

use super::input::{ClaimWish, ListFilter, NewTask, QueueFilter, Stamp, TaskPatch};
use super::state::parse_state;
use crate::catalogue::{BriefTask, Task, TaskHold, TaskStatus};
use colibri_store::db::{Bind, Db, Row, RowError, Value};
use colibri_store::params;

pub(super) const COLUMNS: &str =
    "id, project_id, title, description, status, priority, assignee, created_at, updated_at, deleted_at";

/// The condition of `idx_tasks_queue`, word for word, which the planner requires.
pub(super) const OPEN: &str = "deleted_at IS NULL AND status NOT IN ('DONE', 'CANCELLED')";

/// The rank of a priority, 0 the most urgent; the same expression as in `idx_tasks_queue`. SQLite's `lower` folds only ASCII, as
/// the ranking requires.
pub(super) const RANK: &str = "CASE lower(priority) \
    WHEN 'critical' THEN 0 WHEN 'urgent' THEN 0 WHEN 'urgent_important' THEN 0 WHEN 'p0' THEN 0 \
    WHEN 'high' THEN 1 WHEN 'important' THEN 1 WHEN 'not_urgent_important' THEN 1 WHEN 'p1' THEN 1 \
    WHEN 'low' THEN 3 WHEN 'not_urgent_not_important' THEN 3 WHEN 'p3' THEN 3 \
    ELSE 2 END";

/// Selects tasks `t` that wait for an unfinished one. A cancelled dependency is unfinished, and so is one deleted
/// before its end.
pub(super) const BLOCKED: &str = "EXISTS (SELECT 1 FROM task_dependencies AS d JOIN tasks AS b ON b.id = d.depends_on_id \
    WHERE d.task_id = t.id AND b.status <> 'DONE')";

/// The tasks that a task `t` waits for, in the order in which they were named, with a comma between two ids; [`waits_for`] reads it. A
/// statement of its own would be one more round trip where the database is elsewhere. Most tasks wait for none: for them SQLite need not
/// prepare to sort.
pub(super) const WAITS_FOR: &str = "CASE WHEN EXISTS (SELECT 1 FROM task_dependencies AS d WHERE d.task_id = t.id) \
    THEN (SELECT string_agg(o.id, ',') FROM \
    (SELECT d.depends_on_id AS id FROM task_dependencies AS d WHERE d.task_id = t.id ORDER BY d.rowid) AS o) END";

/// A statement and its parameters.
pub(super) struct Query<'a> {
    pub(super) sql: String,
    pub(super) params: Vec<Value<'a>>,
}

/// Stores a new row.
pub(super) fn insert(db: &Db, id: &str, stamp: Stamp<'_>, task: &NewTask) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO tasks (id, project_id, title, description, status, priority, assignee, created_at, updated_at, \
         sequence_no) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)",
        params![
            id,
            task.project_id,
            task.title,
            task.description,
            task.status.as_str(),
            task.priority,
            task.assignee,
            stamp.now,
            stamp.sequence_no,
        ],
    )?;
    Ok(())
}

/// Returns the live row with that id.
pub(super) fn live(db: &Db, id: &str) -> Result<Option<Task>, Fault> {
    let sql = format!("SELECT {COLUMNS}, {WAITS_FOR} FROM tasks AS t WHERE id = ?1 AND deleted_at IS NULL");
    db.query_opt(&sql, params![id], |row| Ok(Task { depends_on: waits_for(row, 10)?, ..read_task(row)? }))
}

/// Returns the unfinished tasks that one waits for.
pub(super) fn waiting_for(db: &Db, id: &str) -> Result<Vec<String>, Fault> {
    let sql = "SELECT d.depends_on_id FROM task_dependencies AS d JOIN tasks AS b ON b.id = d.depends_on_id \
               WHERE d.task_id = ?1 AND b.status <> 'DONE' ORDER BY d.rowid";
    db.query_all(sql, params![id], |row| row.get(0))
}

/// Returns which of these ids are of a live row.
pub(super) fn live_of<'a>(db: &Db, ids: &[&'a str]) -> Result<Vec<&'a str>, Fault> {
    let (place, asked) = match ids {
        [] => return Ok(Vec::new()),
        [id] => ("= ?1", (*id).to_owned()),
        _ => ("IN (SELECT value FROM json_each(?1))", json_of(ids)?),
    };
    let sql = format!("SELECT id FROM tasks WHERE id {place} AND deleted_at IS NULL");
    let live: HashSet<String> = db.query_all(&sql, params![asked], |row| row.get(0))?.into_iter().collect();
    Ok(ids.iter().copied().filter(|id| live.contains(*id)).collect())
}

/// Returns whether a task has that id, deleted or not. Ids are the server's and rows never go, so the answer stays the same.
pub(crate) fn has_row(db: &Db, id: &str) -> Result<bool, Fault> {
    db.query_one("SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?1)", params![id], |row| row.get(0))
}

/// Writes the patch's own columns of a live row, without its dependencies. The time of the last change never moves
/// backwards. The caller has read the row in the same transaction.
pub(super) fn update(db: &Db, id: &str, stamp: Stamp<'_>, patch: &TaskPatch) -> Result<(), Fault> {
    let columns = [
        ("title", patch.title.as_ref().map(Bind::bind)),
        ("status", patch.status.map(|status| Value::Text(status.as_str()))),
        ("project_id", patch.project_id.as_ref().map(Bind::bind)),
        ("description", patch.description.as_ref().map(Bind::bind)),
        ("priority", patch.priority.as_ref().map(Bind::bind)),
        ("assignee", patch.assignee.as_ref().map(Bind::bind)),
    ];
    let mut sql = "UPDATE tasks SET updated_at = CASE WHEN updated_at < ?1 THEN ?1 ELSE updated_at END, sequence_no = ?2".to_owned();
    let mut params = vec![stamp.now.bind(), stamp.sequence_no.bind()];
    for (column, value) in columns {
        let Some(value) = value else { continue };
        params.push(value);
        sql.push_str(&format!(", {column} = ?{}", params.len()));
    }
    params.push(id.bind());
    sql.push_str(&format!(" WHERE id = ?{} AND deleted_at IS NULL", params.len()));
    db.execute(&sql, &params)
}

/// A form in which lists show tasks.
pub(crate) trait Listed: Sized {
    /// What is read of a row.
    const COLUMNS: &'static str;

    /// The task's id.
    fn id(&self) -> &str;

    /// Says who holds the task.
    fn hold(&mut self, held: TaskHold);

    /// Reads [`Listed::COLUMNS`].
    fn read(row: &Row<'_>) -> Result<Self, RowError>;

    /// Adds to a whole list what other tables have of its tasks.
    fn complete(db: &Db, tasks: Vec<Self>) -> Result<Vec<Self>, Fault>;
}

impl Listed for Task {
    const COLUMNS: &'static str = COLUMNS;

    fn id(&self) -> &str {
        &self.id
    }

    fn hold(&mut self, held: TaskHold) {
        self.held = Some(held);
    }

    fn read(row: &Row<'_>) -> Result<Self, RowError> {
        read_task(row)
    }

    fn complete(db: &Db, tasks: Vec<Self>) -> Result<Vec<Self>, Fault> {
        with_dependencies(db, tasks)
    }
}

impl Listed for BriefTask {
    const COLUMNS: &'static str = "id, title, status, priority, assignee, project_id, updated_at";

    fn id(&self) -> &str {
        &self.id
    }

    fn hold(&mut self, held: TaskHold) {
        self.held = Some(held);
    }

    fn read(row: &Row<'_>) -> Result<Self, RowError> {
        Ok(Self {
            id: row.get(0)?,
            title: row.get(1)?,
            status: read_status(row, 2)?,
            priority: row.get(3)?,
            assignee: row.get(4)?,
            project_id: row.get(5)?,
            updated_at: row.get(6)?,
            held: None,
        })
    }

    fn complete(_: &Db, tasks: Vec<Self>) -> Result<Vec<Self>, Fault> {
        Ok(tasks)
    }
}

fn all<T: Listed>(db: &Db, query: &Query<'_>) -> Result<Vec<T>, Fault> {
    T::complete(db, db.query_all(&query.sql, &query.params, T::read)?)
}

/// Returns one page of the tasks that match, oldest first.
pub(super) fn page<T: Listed>(db: &Db, filter: &ListFilter) -> Result<Vec<T>, Fault> {
    all(db, &page_query::<T>(filter))
}

/// Counts the tasks that match, on all pages.
pub(super) fn count(db: &Db, filter: &ListFilter) -> Result<i64, Fault> {
    let query = count_query(filter);
    db.query_one(&query.sql, &query.params, |row| row.get(0))
}

/// Builds the query of a page. Its rowids come from an index alone, or in table order without a filter; only the rows
/// shown are read whole.
pub(super) fn page_query<T: Listed>(filter: &ListFilter) -> Query<'_> {
    let mut matching = matching(filter);
    matching.params.push(filter.limit.bind());
    matching.params.push(filter.offset.bind());
    let (limit, offset) = (matching.params.len() - 1, matching.params.len());
    let sql = format!(
        "SELECT {} FROM tasks WHERE rowid IN (SELECT rowid FROM tasks WHERE {} \
         ORDER BY rowid LIMIT ?{limit} OFFSET ?{offset}) ORDER BY rowid",
        T::COLUMNS,
        matching.sql,
    );
    Query { sql, params: matching.params }
}

pub(super) fn count_query(filter: &ListFilter) -> Query<'_> {
    let matching = matching(filter);
    Query { sql: format!("SELECT count(*) FROM tasks WHERE {}", matching.sql), params: matching.params }
}

fn matching(filter: &ListFilter) -> Query<'_> {
    let mut query = Query {
        sql: if filter.include_deleted { "TRUE" } else { "deleted_at IS NULL" }.to_owned(),
        params: Vec::new(),
    };
    if let Some(status) = filter.status {
        and_is(&mut query, "status", Some(status.as_str()));
    }
    if let Some(project_id) = &filter.project_id {
        and_is(&mut query, "project_id", project_id.as_deref());
    }
    query
}

/// Returns the head of the queue of open, unblocked tasks, most urgent first.
pub(super) fn queue<T: Listed>(db: &Db, filter: &QueueFilter) -> Result<Vec<T>, Fault> {
    all(db, &queue_query::<T>(filter, false))
}

/// Returns the head of the queue of open tasks that wait, most urgent first.
pub(super) fn blocked(db: &Db, filter: &QueueFilter) -> Result<Vec<BriefTask>, Fault> {
    all(db, &queue_query::<BriefTask>(filter, true))
}

/// Returns the dependencies of these tasks in the order in which they were named, each with the task that waits and
/// whether it was deleted.
pub(super) fn prerequisites(db: &Db, tasks: &[BriefTask]) -> Result<Vec<(String, BriefTask, bool)>, Fault> {
    let ids = ids_of(tasks)?;
    let sql = format!(
        "SELECT {}, d.task_id, deleted_at IS NOT NULL FROM task_dependencies AS d JOIN tasks ON id = d.depends_on_id \
         WHERE d.task_id IN (SELECT value FROM json_each(?1)) ORDER BY d.rowid",
        BriefTask::COLUMNS
    );
    db.query_all(&sql, params![ids], |row| Ok((row.get(7)?, BriefTask::read(row)?, row.get(8)?)))
}

/// Counts the open tasks that match: those that are ready, and those that wait.
pub(super) fn queue_counts(db: &Db, filter: &QueueFilter) -> Result<(i64, i64), Fault> {
    let query = queue_counts_query(filter);
    let (open, blocked): (i64, i64) =
        db.query_one(&query.sql, &query.params, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((open - blocked, blocked))
}

pub(super) fn queue_query<T: Listed>(filter: &QueueFilter, blocked: bool) -> Query<'_> {
    let mut open = open(filter);
    open.params.push(if blocked { filter.blocked_limit.bind() } else { filter.limit.bind() });
    let sql = format!(
        "SELECT {} FROM tasks AS t WHERE {} AND {} {BLOCKED} ORDER BY {RANK}, rowid LIMIT ?{}",
        T::COLUMNS,
        open.sql,
        if blocked { "" } else { "NOT" },
        open.params.len(),
    );
    Query { sql, params: open.params }
}

pub(super) fn queue_counts_query(filter: &QueueFilter) -> Query<'_> {
    let open = open(filter);
    let sql =
        format!("SELECT count(*), count(*) FILTER (WHERE {BLOCKED}) FROM tasks AS t WHERE {}", open.sql);
    Query { sql, params: open.params }
}

fn open(filter: &QueueFilter) -> Query<'_> {
    let mut query = Query { sql: OPEN.to_owned(), params: Vec::new() };
    if let Some(project_id) = &filter.project_id {
        and_is(&mut query, "project_id", project_id.as_deref());
    }
    if let Some(assignee) = &filter.assignee {
        and_is(&mut query, "assignee", assignee.as_deref());
    }
    if let Some(bounds) = &filter.unclaimed {
        and_unclaimed(&mut query, bounds);
    }
    query
}

/// Selects the tasks `t` that an agent may claim, but for the claims of others.
pub(super) fn claimable(wish: &ClaimWish) -> Query<'_> {
    let assigned = "(t.assignee IS NULL OR t.assignee = '' OR t.assignee = ?1)";
    let mut query =
        Query { sql: format!("{OPEN} AND NOT {BLOCKED} AND {assigned}"), params: vec![wish.agent_id.bind()] };
    if let Some(project_id) = &wish.project_id {
        and_is(&mut query, "project_id", project_id.as_deref());
    }
    query
}

/// Selects the id of the most urgent task that is free for an agent.
pub(super) fn first_claimable<'a>(wish: &'a ClaimWish, bounds: &'a [String; 2]) -> Query<'a> {
    let mut free = claimable(wish);
    and_unclaimed(&mut free, bounds);
    free.sql = format!("SELECT id FROM tasks AS t WHERE {} ORDER BY {RANK}, rowid LIMIT 1", free.sql);
    free
}

/// Leaves out the tasks `t` that an agent holds.
fn and_unclaimed<'a>(query: &mut Query<'a>, bounds: &'a [String; 2]) {
    let held = held(query, bounds);
    query.sql.push_str(&format!(" AND NOT {held}"));
}

/// Selects the tasks `t` that an agent holds. The bounds are those of a live claim's lease.
pub(super) fn held<'a>(query: &mut Query<'a>, [after, last]: &'a [String; 2]) -> String {
    query.params.extend([after.bind(), last.bind()]);
    let at = query.params.len();
    format!(
        "EXISTS (SELECT 1 FROM task_claims AS c WHERE c.task_id = t.id AND c.released_at IS NULL \
         AND c.lease_until > ?{} AND c.lease_until <= ?{at})",
        at - 1
    )
}

/// Selects the rows whose column has that value, or is NULL. Not `IS NOT DISTINCT FROM`, for which PostgreSQL uses no index.
pub(super) fn and_is<'a>(query: &mut Query<'a>, column: &str, value: Option<&'a str>) {
    match value {
        Some(text) => {
            query.params.push(Value::Text(text));
            query.sql.push_str(&format!(" AND {column} = ?{}", query.params.len()));
        }
        None => query.sql.push_str(&format!(" AND {column} IS NULL")),
    }
}

/// Returns the ids a task waits for, in the order in which they were named.
pub(super) fn dependencies(db: &Db, task_id: &str) -> Result<Vec<String>, Fault> {
    db.query_all(
        "SELECT depends_on_id FROM task_dependencies WHERE task_id = ?1 ORDER BY rowid",
        params![task_id],
        |row| row.get(0),
    )
}

/// Adds dependencies of a task; existing ones keep their place.
pub(super) fn add_dependencies(db: &Db, task_id: &str, wanted: &[String]) -> Result<(), Fault> {
    for id in wanted {
        db.execute(
            "INSERT INTO task_dependencies (task_id, depends_on_id) VALUES (?1, ?2) \
             ON CONFLICT (task_id, depends_on_id) DO NOTHING",
            params![task_id, id],
        )?;
    }
    Ok(())
}

/// Replaces all dependencies of a task with `wanted`.
pub(super) fn replace_dependencies(db: &Db, task_id: &str, wanted: &[String]) -> Result<(), Fault> {
    for id in dependencies(db, task_id)?.iter().filter(|id| !wanted.contains(id)) {
        db.execute(
            "DELETE FROM task_dependencies WHERE task_id = ?1 AND depends_on_id = ?2",
            params![task_id, id],
        )?;
    }
    add_dependencies(db, task_id, wanted)
}

/// Adds the dependencies to a whole list with one statement.
fn with_dependencies(db: &Db, mut tasks: Vec<Task>) -> Result<Vec<Task>, Fault> {
    if tasks.is_empty() {
        return Ok(tasks);
    }
    let ids = ids_of(&tasks)?;
    let edges: Vec<(String, String)> = db.query_all(
        "SELECT task_id, depends_on_id FROM task_dependencies WHERE task_id IN (SELECT value FROM json_each(?1)) \
         ORDER BY rowid",
        params![ids],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut by_task: HashMap<String, Vec<String>> = HashMap::new();
    for (task_id, depends_on_id) in edges {
        by_task.entry(task_id).or_default().push(depends_on_id);
    }
    for task in &mut tasks {
        task.depends_on = by_task.remove(&task.id);
    }
    Ok(tasks)
}

/// Returns the ids of tasks as a JSON array, for `json_each`.
pub(super) fn ids_of<T: Listed>(tasks: &[T]) -> Result<String, Fault> {
    json_of(&tasks.iter().map(T::id).collect::<Vec<_>>())
}

fn json_of(ids: &[&str]) -> Result<String, Fault> {
    serde_json::to_string(ids).map_err(|error| Fault::Other(error.to_string()))
}

/// Converts the dependencies for a reply: `None` rather than an empty list.
pub(super) fn listed(dependencies: Vec<String>) -> Option<Vec<String>> {
    if dependencies.is_empty() { None } else { Some(dependencies) }
}

/// Reads [`WAITS_FOR`].
pub(super) fn waits_for(row: &Row<'_>, column: usize) -> Result<Option<Vec<String>>, RowError> {
    let ids: Option<&str> = row.get(column)?;
    Ok(ids.map(|ids| ids.split(',').map(str::to_owned).collect()))
}

/// Reads [`COLUMNS`]; dependencies are in another table.
pub(super) fn read_task(row: &Row<'_>) -> Result<Task, RowError> {
    let id: String = row.get(0)?;
    Ok(Task {
        task_id: id.clone(),
        id,
        project_id: row.get(1)?,
        title: row.get(2)?,
        description: row.get(3)?,
        status: read_status(row, 4)?,
        priority: row.get(5)?,
        assignee: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
        deleted_at: row.get(9)?,
        depends_on: None,
        held: None,
    })
}

pub(super) fn read_status(row: &Row<'_>, column: usize) -> Result<TaskStatus, RowError> {
    let text: String = row.get(column)?;
    parse_state(&text).map_err(|_| RowError)
}
