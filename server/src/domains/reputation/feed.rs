//! What the server itself reports (reputation#feed): finished tasks and sealed sessions. The domains that know of them call
//! the functions here inside the savepoint of their own change, so that neither exists without the other.
//!
//! The caller does not see how an event is weighed: only a failing database fails the call.

use colibri_runtime::handler::{Failure, Fault};

use super::automatic::{AutomaticEvent, SESSION_SEALED, TASK_DONE, session_sealed_id, task_done_id};
use super::epoch::present_epoch;
use super::event::{Acker, Gain, is_reserved};
use super::experience::{self, Experience};
use super::writer::{Gained, Recording, record_gain};
use crate::domains::trail;
use crate::store::db::Db;

/// What a call that may finish a task brings along.
#[derive(Debug, Clone)]
pub struct TaskFeed {
    recording: Recording,
    /// For the tokens that the task may leave: ids of the call's own source.
    token_ids: [String; 2],
}

impl TaskFeed {
    /// With everything given.
    pub fn new(recording: Recording, token_ids: [String; 2]) -> Self {
        Self { recording, token_ids }
    }
}

/// A task has just been finished: its executor is credited, by the word of the last peer who reflected on it or else by
/// the system's. The executor is the assignee, or whoever thought first.
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

/// A session has just been sealed: everybody who thought in it is credited.
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

/// Records an event at the present epoch; by how much it moved the score, `None` when nothing was recorded.
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

/// The result, or nothing where reputation refused: a node it has no row for, a damaged row.
fn unless_storage<T, E>(result: Result<T, Failure<E>>) -> Result<Option<T>, Fault> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Fault(Fault::Storage(reason))) => Err(Fault::Storage(reason)),
        Err(Failure::Fault(Fault::Other(_)) | Failure::Domain(_)) => Ok(None),
    }
}
