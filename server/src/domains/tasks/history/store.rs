//! The histories' SQL.

use colibri_runtime::handler::Fault;

use crate::catalogue::{Task, TaskEventKind, TaskStatus};
use crate::domains::tasks::event::{ClaimPart, Event};
use crate::domains::tasks::rules::Claim;
use crate::domains::tasks::store::{COLUMNS as TASK_COLUMNS, WAITS_FOR, read_task, waits_for};
use colibri_store::ahead::Page;
use colibri_store::callers;
use colibri_store::db::{Db, Row, RowError};
use colibri_store::params;
use colibri_store::walk::Stop;

const COLUMNS: &str = "event_no, sequence_no, task_call, kind, from_status, to_status, at, changes, claim_no, \
     agent_id, lease_until";

/// A task, the call that its row names, and what its history and its claims say.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub task: Task,
    pub call: Option<i64>,
    pub newest: Option<Newest>,
    pub claim: Option<Claim>,
}

/// The newest event of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Newest {
    pub event_no: i64,
    task_call: Option<i64>,
}

impl Standing {
    /// Returns whether no event tells of the row as it stands.
    pub(super) fn is_untold(&self) -> bool {
        self.newest.is_none_or(|newest| newest.task_call != self.call)
    }
}

/// Returns the live task with that id, as it stands.
///
/// # Errors
/// The engine's error.
pub(crate) fn live_standing(db: &Db, id: &str) -> Result<Option<Standing>, Fault> {
    stands(db, id, "t.deleted_at IS NULL")
}

/// Returns the task with that id, deleted or not, as it stands.
///
/// # Errors
/// The engine's error.
pub(crate) fn standing(db: &Db, id: &str) -> Result<Option<Standing>, Fault> {
    stands(db, id, "TRUE")
}

/// Fills a page with the tasks from an id on, as they stand, but for their newest events.
///
/// # Errors
/// The engine's error.
pub(crate) fn standings(db: &Db, first: &str, page: &mut Page<String, Standing>) -> Result<(), Fault> {
    let sql = format!(
        "SELECT {TASK_COLUMNS}, {WAITS_FOR}, t.sequence_no, {CLAIM_COLUMNS} FROM tasks AS t \
         LEFT JOIN task_claims AS c ON c.task_id = t.id WHERE t.id >= ?1 ORDER BY t.id LIMIT ?2",
    );
    db.walk(&sql, params![first, page.wanted()], |row| {
        let row = read_standing(row);
        let texts = row.as_ref().map_or(0, |(_, row)| {
            row.task.title.len() + row.task.description.as_ref().map_or(0, String::len)
        });
        page.take(row.map_err(Fault::from), texts)
    })
}

fn read_standing(row: &Row<'_>) -> Result<(String, Standing), RowError> {
    // Behind the ten of the task.
    let task = Task { depends_on: waits_for(row, 10)?, ..read_task(row)? };
    Ok((task.id.clone(), Standing { task, call: row.get(11)?, newest: None, claim: read_claim(row, 12)? }))
}

/// One statement: the task's row, one seek for its newest event, one for its claim, and one for what it waits for.
pub(in crate::domains::tasks) fn standing_sql(condition: &str) -> String {
    format!(
        "SELECT {TASK_COLUMNS}, {WAITS_FOR}, t.sequence_no, e.event_no, e.task_call, {} FROM tasks AS t \
         LEFT JOIN task_events AS e ON e.task_id = t.id LEFT JOIN task_claims AS c ON c.task_id = t.id \
         WHERE t.id = ?1 AND {condition} ORDER BY e.event_no DESC LIMIT 1",
        CLAIM_COLUMNS,
    )
}

fn stands(db: &Db, id: &str, condition: &str) -> Result<Option<Standing>, Fault> {
    db.query_opt(&standing_sql(condition), params![id], |row| {
        // Behind the ten of the task.
        let task = Task { depends_on: waits_for(row, 10)?, ..read_task(row)? };
        let newest = match row.get(12)? {
            Some(event_no) => Some(Newest { event_no, task_call: row.get(13)? }),
            None => None,
        };
        Ok(Standing { task, call: row.get(11)?, newest, claim: read_claim(row, 14)? })
    })
}

/// What [`read_claim`] reads, of `task_claims AS c`.
pub(in crate::domains::tasks) const CLAIM_COLUMNS: &str =
    "c.claim_no, c.agent_id, c.caller_no, c.claimed_at, c.lease_until, c.released_at, c.sequence_no";

/// Reads [`CLAIM_COLUMNS`] from a column on; `None` if the task was never claimed.
pub(in crate::domains::tasks) fn read_claim(row: &Row<'_>, from: usize) -> Result<Option<Claim>, RowError> {
    let Some(no) = row.get(from)? else { return Ok(None) };
    Ok(Some(Claim {
        no,
        agent_id: row.get(from + 1)?,
        caller_no: row.get(from + 2)?,
        claimed_at: row.get(from + 3)?,
        lease_until: row.get(from + 4)?,
        released_at: row.get(from + 5)?,
        sequence_no: row.get(from + 6)?,
    }))
}

/// Stores an event.
pub(super) fn insert(db: &Db, task_id: &str, event: &Event) -> Result<(), Fault> {
    let claim = event.claim.as_ref();
    db.execute(
        "INSERT OR FAIL INTO task_events (task_id, event_no, sequence_no, task_call, kind, from_status, to_status, \
         at, changes, claim_no, agent_id, lease_until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            task_id,
            event.event_no,
            event.sequence_no,
            event.task_call,
            event.kind.as_str(),
            event.from.map(TaskStatus::as_str),
            event.to.as_str(),
            event.at,
            event.changes,
            claim.map(|claim| claim.no),
            claim.map(|claim| claim.agent_id.as_str()),
            claim.map(|claim| claim.lease_until.as_str()),
        ],
    )?;
    Ok(())
}

/// Returns the kind and the state of a task's first event.
pub(super) fn first(db: &Db, task_id: &str) -> Result<Option<(TaskEventKind, TaskStatus)>, Fault> {
    let sql = "SELECT kind, to_status FROM task_events WHERE task_id = ?1 ORDER BY event_no LIMIT 1";
    db.query_opt(sql, params![task_id], |row| Ok((word(row, 0)?, word(row, 1)?)))
}

/// Returns a task's events below a number, newest first.
pub(super) fn page(db: &Db, task_id: &str, limit: i64, before: i64) -> Result<Vec<Event>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM task_events WHERE task_id = ?1 AND event_no < ?2 ORDER BY event_no DESC LIMIT ?3"
    );
    db.query_all(&sql, params![task_id, before, limit], |row| read(row, 0))
}

/// Returns a task's events of one call.
pub(super) fn of_call(db: &Db, task_id: &str, call: i64) -> Result<Vec<Event>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS} FROM task_events WHERE task_id = ?1 AND sequence_no = ?2 ORDER BY event_no"
    );
    db.query_all(&sql, params![task_id, call], |row| read(row, 0))
}

/// Returns the changes of a task's events behind a number that have a text, in order.
pub(super) fn changes_with(db: &Db, task_id: &str, behind: i64, text: &str) -> Result<Vec<String>, Fault> {
    let sql = "SELECT changes FROM task_events WHERE task_id = ?1 AND event_no > ?2 AND changes LIKE ?3 ORDER BY event_no";
    db.query_all(sql, params![task_id, behind, format!("%{text}%")], |row| row.get(0))
}

/// Returns the number of a task's last event that a call before this one left; 0 if there is none.
pub(super) fn event_before(db: &Db, task_id: &str, call: i64) -> Result<i64, Fault> {
    let sql = "SELECT coalesce(max(event_no), 0) FROM task_events WHERE task_id = ?1 AND sequence_no < ?2";
    db.query_one(sql, params![task_id, call], |row| row.get(0))
}

/// Returns the last event of a claim before a number, and whether the task was finished since then, which ends a claim.
pub(super) fn claim_before(db: &Db, task_id: &str, event_no: i64) -> Result<Option<(Event, bool)>, Fault> {
    let sql = format!(
        "SELECT {COLUMNS}, EXISTS (SELECT 1 FROM task_events AS f WHERE f.task_id = e.task_id \
         AND f.event_no > e.event_no AND f.event_no < ?2 AND f.to_status IN ('DONE', 'CANCELLED')) \
         FROM task_events AS e WHERE task_id = ?1 AND event_no < ?2 AND claim_no IS NOT NULL \
         ORDER BY event_no DESC LIMIT 1"
    );
    db.query_opt(&sql, params![task_id, event_no], |row| Ok((read(row, 0)?, row.get(11)?)))
}

/// Returns the callers of the calls that claimed, renewed or gave back for an agent.
pub(super) fn callers_of(db: &Db, agent_id: &str) -> Result<Vec<i64>, Fault> {
    callers::of_agent(db, "task_events", agent_id)
}

/// Returns each agent of the events since a time, with each of its callers.
pub(super) fn agents_since(db: &Db, since: &str, first: i64) -> Result<Vec<(String, i64)>, Fault> {
    callers::agents_since(db, "task_events", since, first)
}

/// Returns how many events there are.
///
/// # Errors
/// The engine's error.
pub(crate) fn count_events(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT count(*) FROM task_events", &[], |row| row.get(0))
}

/// Hands over the calls of a tool that succeeded and of which no event of their task tells: the number and the task. In the order of
/// the numbers.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub(crate) fn each_untold_call<E: From<Fault>>(
    db: &Db,
    tool: &str,
    mut take: impl FnMut(i64, &str) -> Result<(), E>,
) -> Result<(), E> {
    // The engine goes through the events once. Looking each call up would read all events of its task each time.
    let sql = "SELECT sequence_no, subject FROM actions \
               WHERE exit_no IS NOT NULL AND outcome = 'ok' AND tool = ?1 AND subject IS NOT NULL \
               EXCEPT SELECT sequence_no, task_id FROM task_events WHERE sequence_no IS NOT NULL ORDER BY sequence_no";
    db.walk(sql, params![tool], |row| {
        let task_id: String = row.get(1).map_err(Fault::from)?;
        take(row.get(0).map_err(Fault::from)?, &task_id)?;
        Ok(true)
    })
}

/// Hands over all events, those of one task together and in their order. An event is `None` if its row is malformed.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub(crate) fn each_event(
    db: &Db,
    mut take: impl FnMut(&str, Option<Event>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let sql = format!("SELECT {COLUMNS}, task_id FROM task_events ORDER BY task_id, event_no");
    db.walk(&sql, &[], |row| {
        // Behind the eleven of `COLUMNS`.
        take(row.get(11).map_err(Fault::from)?, read(row, 0).ok())?;
        Ok(true)
    })
}

/// Hands over the claims' events in the order in which their calls ended: the call, when it was entered, and the claim's time.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub(crate) fn claim_events(
    db: &Db,
    mut take: impl FnMut(i64, &str, &str) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let sql = "SELECT a.sequence_no, a.entered_at, e.at FROM task_events AS e \
               JOIN actions AS a ON a.sequence_no = e.sequence_no WHERE e.claim_no IS NOT NULL ORDER BY a.exit_no NULLS FIRST";
    db.walk(sql, &[], |row| {
        let call = row.get(0).map_err(Fault::from)?;
        take(call, row.get(1).map_err(Fault::from)?, row.get(2).map_err(Fault::from)?)?;
        Ok(true)
    })
}

fn read(row: &Row<'_>, from: usize) -> Result<Event, RowError> {
    let claim = match (row.get(from + 8)?, row.get(from + 9)?, row.get(from + 10)?) {
        (None, None::<String>, None::<String>) => None,
        (Some(no), Some(agent_id), Some(lease_until)) => Some(ClaimPart { no, agent_id, lease_until }),
        _ => return Err(RowError),
    };
    Ok(Event {
        event_no: row.get(from)?,
        sequence_no: row.get(from + 1)?,
        task_call: row.get(from + 2)?,
        kind: word(row, from + 3)?,
        from: row.get::<Option<&str>>(from + 4)?.map(str::parse).transpose().map_err(|_| RowError)?,
        to: word(row, from + 5)?,
        at: row.get(from + 6)?,
        changes: row.get(from + 7)?,
        claim,
    })
}

fn word<T: std::str::FromStr>(row: &Row<'_>, at: usize) -> Result<T, RowError> {
    row.get::<&str>(at)?.parse().map_err(|_| RowError)
}
