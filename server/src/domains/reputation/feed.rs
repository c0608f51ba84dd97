//! Events that the server itself reports (reputation#feed): finished tasks and sealed sessions. The domains call
//! these functions inside the savepoint of their own change, so that neither exists without the other.
//!
//! The caller does not see how an event is weighed. Only a failing database fails the call.

use colibri_runtime::handler::{Failure, Fault};

use super::automatic::{AutomaticEvent, SESSION_SEALED, TASK_DONE, session_sealed_id, task_done_id};
use super::epoch::present_epoch;
use super::event::{Acker, Gain, is_reserved};
use super::experience::{self, Experience};
use super::writer::{Gained, Recording, record_gain};
use crate::domains::trail;
use colibri_store::db::Db;

/// The inputs of a call that may finish a task.
#[derive(Debug, Clone)]
pub struct TaskFeed {
    recording: Recording,
    /// Ids for the tokens that the task may leave, from the call's own id source.
    token_ids: [String; 2],
}

impl TaskFeed {
    /// Combines the recording and the ids.
    pub fn new(recording: Recording, token_ids: [String; 2]) -> Self {
        Self { recording, token_ids }
    }
}

/// Credits the executor of a task that has just been finished. The acknowledgement is that of the last peer who
/// reflected on the task, or else the system's. The executor is the assignee, or else the author of the first
/// thought.
///
/// # Errors
/// [`Fault::Storage`].
pub fn task_done(db: &Db, feed: &TaskFeed, task_id: &str, assignee: Option<&str>) -> Result<(), Fault> {
    let executor = match assignee.filter(|assignee| !assignee.is_empty()) {
        Some(assignee) => Some(assignee.to_owned()),
        None => trail::first_author(db, task_id)?,
    };
    let Some(executor) = executor.filter(|executor| !is_reserved(executor)) else { return Ok(()) };
    let reviewer = trail::latest_reflection_not_by(db, task_id, &executor)?;
    let acker = reviewer.as_deref().map(Acker::Peer);
    let event_id = task_done_id(task_id);
    let Some(delta) = credit(db, &feed.recording, &TASK_DONE, (&event_id, &executor), acker)? else {
        return Ok(());
    };
    let experience = Experience {
        node_id: &executor,
        domain: TASK_DONE.domain,
        action: TASK_DONE.reason,
        delta,
        counterparty: reviewer.as_deref(),
    };
    unless_storage(experience::of_event(db, &experience, &feed.token_ids, feed.recording.now_ms)).map(drop)
}

/// Credits every agent who recorded a thought in a session that has just been sealed.
///
/// # Errors
/// [`Fault::Storage`].
pub fn session_sealed(db: &Db, recording: &Recording, session_id: &str) -> Result<(), Fault> {
    for agent in trail::agents_of_session(db, session_id)? {
        let event_id = session_sealed_id(session_id, &agent);
        credit(db, recording, &SESSION_SEALED, (&event_id, &agent), None)?;
    }
    Ok(())
}

/// Records an event at the present epoch. Returns the change of the score, or `None` if nothing was recorded.
fn credit(
    db: &Db,
    recording: &Recording,
    rule: &AutomaticEvent,
    (event_id, node_id): (&str, &str),
    peer: Option<Acker<'_>>,
) -> Result<Option<i64>, Fault> {
    let gain = Gain {
        event_id,
        node_id,
        domain: rule.domain,
        nominal_delta: rule.nominal_delta,
        acker: peer.unwrap_or(Acker::System { weight_bps: rule.weight_bps }),
        epoch: present_epoch(db, recording.epoch_seconds, recording.now_ms)?,
        reason: rule.reason,
        source: rule.source,
    };
    let gained = unless_storage(record_gain(db, recording, &gain))?;
    Ok(match gained {
        Some(Gained::Recorded(step)) => Some(step.delta),
        Some(Gained::Duplicate | Gained::Ignored(_)) | None => None,
    })
}

/// Returns the result, or `None` if reputation refused: a node without a row, or a damaged row.
fn unless_storage<T, E>(result: Result<T, Failure<E>>) -> Result<Option<T>, Fault> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Fault(Fault::Storage(reason))) => Err(Fault::Storage(reason)),
        Err(Failure::Fault(Fault::Other(_)) | Failure::Domain(_)) => Ok(None),
    }
}
