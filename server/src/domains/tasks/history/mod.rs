//! The history of tasks (tasks#history): what each change and claim leaves behind, and the pages of it that callers read.

mod store;

use colibri_runtime::handler::Fault;
use colibri_runtime::members::Members;
use serde_json::{Map, Value};

use super::change;
use super::event::{ClaimPart, Event, may_earn, skipped};
use super::input::Stamp;
use crate::catalogue::{
    TaskEvent, TaskEventCaller, TaskEventKind, TaskFieldChange, TaskHistoryOutput, TaskStatus, ToolId,
};
use colibri_store::callers::{CallerRow, caller_of_call};
use colibri_store::db::Db;

#[cfg(test)]
pub(super) use store::standing_sql;
pub(super) use store::{CLAIM_COLUMNS, read_claim};
pub(crate) use store::{
    Standing, claim_events, count_events, each_event, each_untold_call, live_standing, standing, standings,
};

/// What a call does to a task, as its history tells it.
pub(super) struct Entry<'a> {
    /// What happens.
    pub kind: TaskEventKind,
    /// The state afterwards.
    pub to: TaskStatus,
    /// The call that the task's row names afterwards.
    pub task_call: Option<i64>,
    /// When it happens.
    pub at: &'a str,
    /// The changed fields.
    pub changes: String,
    /// Of claims.
    pub claim: Option<ClaimPart>,
}

/// Stores the event of the running call, before the row of `tasks` changes. If the newest event does not tell of the row as it
/// stands, one that does comes first: so each history begins with a state, and nothing is invented for the time before.
pub(super) fn append(db: &Db, standing: &Standing, stamp: Stamp<'_>, entry: Entry<'_>) -> Result<(), Fault> {
    let task = &standing.task;
    let mut event_no = standing.newest.map_or(0, |newest| newest.event_no);
    if standing.is_untold() {
        event_no += 1;
        store::insert(db, &task.id, &untold(db, standing, event_no)?)?;
    }
    let Entry { kind, to, task_call, at, changes, claim } = entry;
    let event = Event {
        event_no: event_no + 1,
        sequence_no: stamp.sequence_no,
        task_call,
        kind,
        from: Some(task.status),
        to,
        at: at.to_owned(),
        changes,
        claim,
    };
    store::insert(db, &task.id, &event)
}

/// Returns the event that a task's row and call stand for.
fn untold(db: &Db, standing: &Standing, event_no: i64) -> Result<Event, Fault> {
    let Standing { task, call, .. } = standing;
    let created = event_no == 1 && created_by(db, *call)?;
    Ok(Event {
        event_no,
        sequence_no: *call,
        task_call: *call,
        kind: if created { TaskEventKind::Created } else { TaskEventKind::Migrated },
        from: None,
        to: task.status,
        at: task.updated_at.clone(),
        changes: change::whole(task, !created),
        claim: None,
    })
}

/// Returns whether a call created a task and has a caller: what older servers did is a state, and no beginning.
fn created_by(db: &Db, call: Option<i64>) -> Result<bool, Fault> {
    let Some(sequence_no) = call else { return Ok(false) };
    let created = ToolId::TaskCreate.name();
    let called = caller_of_call(db, sequence_no)?;
    Ok(called.is_some_and(|(tool, caller)| tool == created && caller.is_some()))
}

/// Returns whether a finished task may earn reputation: the first event of its history says so.
///
/// # Errors
/// Storage faults.
pub(crate) fn earns(db: &Db, task_id: &str) -> Result<bool, Fault> {
    Ok(store::first(db, task_id)?.is_none_or(|(kind, born_in)| may_earn(kind, born_in)))
}

/// Returns a page of a task's history, newest first; `None` if no task has that id. Deleted tasks have a history too.
///
/// # Errors
/// Storage faults.
pub fn history(
    db: &Db,
    id: &str,
    limit: i64,
    before: Option<i64>,
) -> Result<Option<TaskHistoryOutput>, Fault> {
    let Some(standing) = standing(db, id)? else { return Ok(None) };
    let stored = standing.newest.map_or(0, |newest| newest.event_no);
    let total_count = stored.saturating_add(i64::from(standing.is_untold()));
    let before = before.unwrap_or(i64::MAX);
    let mut events = Vec::new();
    if total_count > stored && before > total_count {
        events.push(published(db, untold(db, &standing, total_count)?, false)?);
    }
    for event in store::page(db, id, limit - events.len() as i64, before)? {
        events.push(published(db, event, true)?);
    }
    let next_before = events.last().map(|event| event.event_no).filter(|last| *last > 1);
    Ok(Some(TaskHistoryOutput { task_id: standing.task.id, events, total_count, next_before }))
}

/// Returns the event that a call left in a task's history, if one is stored.
///
/// # Errors
/// Storage faults.
pub(crate) fn event_of_call(db: &Db, task_id: &str, call: i64) -> Result<Option<TaskEvent>, Fault> {
    match store::of_call(db, task_id, call)?.pop() {
        Some(event) => Ok(Some(published(db, event, true)?)),
        None => Ok(None),
    }
}

/// Returns a task's title as an event left it; `None` if there is no such task. `event_no` 0 means the beginning.
///
/// # Errors
/// Storage faults.
pub(crate) fn title_after(db: &Db, task_id: &str, event_no: i64) -> Result<Option<String>, Fault> {
    // The next change of the title has it as the old value. Without one, it is the title of today.
    for changes in store::changes_with(db, task_id, event_no, "\"title\":[")? {
        let changes = pairs(&changes)?;
        let change = changes.iter().find(|(name, _)| *name == "title");
        if let Some(Value::String(old)) = change.map(|(_, change)| &change.old) {
            return Ok(Some(old.clone()));
        }
    }
    Ok(standing(db, task_id)?.map(|standing| standing.task.title))
}

/// Returns a task's title at the time of a call; `None` if there is no such task.
///
/// # Errors
/// Storage faults.
pub(crate) fn title_at(db: &Db, task_id: &str, call: Option<i64>) -> Result<Option<String>, Fault> {
    let event_no = match call {
        Some(call) => store::event_before(db, task_id, call)?,
        None => i64::MAX,
    };
    title_after(db, task_id, event_no)
}

/// Returns the state in which a task was created, if its history goes back so far.
///
/// # Errors
/// Storage faults.
pub(crate) fn born_in(db: &Db, task_id: &str) -> Result<Option<TaskStatus>, Fault> {
    match store::first(db, task_id)? {
        Some((TaskEventKind::Created, state)) => Ok(Some(state)),
        Some(_) => Ok(None),
        None => Ok(standing(db, task_id)?.map(|standing| standing.task.status)),
    }
}

/// Returns the agent whose claim a change needed, and the claim's number: while a claim runs, only calls that name its number change
/// the task. `None` for a change outside of claims.
///
/// # Errors
/// Storage faults.
pub(crate) fn claim_of_change(
    db: &Db,
    task_id: &str,
    event: &TaskEvent,
) -> Result<Option<(String, i64)>, Fault> {
    let Some((claimed, ended)) = store::claim_before(db, task_id, event.event_no)? else { return Ok(None) };
    let is_released = claimed.kind == TaskEventKind::Released || ended;
    let runs = |claim: &ClaimPart| !is_released && claim.lease_until > event.at;
    Ok(claimed.claim.filter(runs).map(|claim| (claim.agent_id, claim.no)))
}

/// Returns the callers that acted for an agent by its claims.
///
/// # Errors
/// Storage faults.
pub(crate) fn callers_of(db: &Db, agent_id: &str) -> Result<Vec<i64>, Fault> {
    store::callers_of(db, agent_id)
}

/// Returns each agent that had a claim in a call since a time, with each of its callers.
///
/// # Errors
/// Storage faults.
pub(crate) fn agents_since(db: &Db, since: &str, first: i64) -> Result<Vec<(String, i64)>, Fault> {
    store::agents_since(db, since, first)
}

fn published(db: &Db, event: Event, stored: bool) -> Result<TaskEvent, Fault> {
    let (claim, agent_id, until) = match event.claim {
        Some(claim) => (Some(claim.no), Some(claim.agent_id), Some(claim.lease_until)),
        None => (None, None, None),
    };
    Ok(TaskEvent {
        event_no: event.event_no,
        kind: event.kind,
        from: event.from,
        to: event.to,
        at: event.at,
        changes: pairs(&event.changes)?,
        skipped: skipped(event.kind, event.to).to_vec(),
        claim,
        agent_id,
        until,
        call: event.sequence_no,
        who: who(db, event.sequence_no)?,
        stored,
    })
}

fn pairs(changes: &str) -> Result<Members<String, TaskFieldChange>, Fault> {
    let broken =
        || Fault::Storage("a stored history is not in its form; `colibri verify` names it".to_owned());
    let changes: Map<String, Value> = serde_json::from_str(changes).map_err(|_| broken())?;
    let pair = |change: Value| match change {
        Value::Array(pair) => <[Value; 2]>::try_from(pair).ok(),
        _ => None,
    };
    changes
        .into_iter()
        .map(|(name, change)| {
            let [old, new] = pair(change).ok_or_else(broken)?;
            Ok((name, TaskFieldChange { old, new }))
        })
        .collect()
}

/// Returns who made a call; `None` for calls of before callers were stored.
fn who(db: &Db, call: Option<i64>) -> Result<Option<TaskEventCaller>, Fault> {
    let Some(sequence_no) = call else { return Ok(None) };
    let caller = caller_of_call(db, sequence_no)?.and_then(|(_, caller)| caller);
    Ok(caller.map(|row| {
        let CallerRow { caller_no, client_name, client_version, actor, os_user, host, .. } = row;
        TaskEventCaller {
            caller: caller_no,
            actor,
            client: client_name,
            version: client_version,
            os_user,
            host,
            asserted: true,
        }
    }))
}
