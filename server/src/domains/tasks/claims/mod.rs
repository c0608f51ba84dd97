//! Claims (tasks#claims): who holds which task for how long. All of a call happens inside its savepoint, so two processes never
//! get one task.

mod store;

use colibri_runtime::handler::{Failure, Fault, Outcome};

use super::change;
use super::event::ClaimPart;
use super::history::{self, Entry, Standing, live_standing};
use super::input::{ClaimWish, Stamp};
use super::rules::{self, Claim, Grant, Refusal, Time};
use super::store::{Listed, waiting_for};
use crate::catalogue::{
    TaskClaimError, TaskClaimOutput, TaskEventKind, TaskHold, TaskReleaseError, TaskReleaseOutput,
    TaskStatus, TaskUpdateError,
};
use colibri_store::callers::caller;
use colibri_store::db::Db;

#[cfg(test)]
pub(super) use store::first_end_query;
pub(crate) use store::{clock, clocks, count_claims, each_stray};

/// The reply of a claim or a release.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged<T> {
    /// The reply.
    pub reply: T,
    /// Whether anything was written.
    pub written: bool,
    /// The stored time that was set back, because a wrong clock had written it.
    pub set_back: Option<String>,
}

/// Gives a task to an agent: the one it names, or the most urgent free one.
///
/// # Errors
/// The tool's declared errors, before any write; storage faults.
pub(crate) fn claim_task(
    db: &Db,
    stamp: Stamp<'_>,
    caller_no: i64,
    wish: &ClaimWish,
) -> Outcome<Judged<TaskClaimOutput>, TaskClaimError> {
    let latest = clock(db)?;
    let time = Time::of_call(stamp.entered_ms, latest.as_deref());
    let id = match &wish.id {
        Some(id) => id.clone(),
        None => match store::first_free(db, wish, time)? {
            Some(id) => id,
            None => {
                let reply = nothing(store::first_end(db, wish, time)?);
                return Ok(Judged { reply, written: false, set_back: None });
            }
        },
    };
    let Some(standing) = live_standing(db, &id)? else {
        return Err(Failure::Domain(TaskClaimError::ErrNotFound { task_id: id }));
    };
    let status = standing.task.status;
    if matches!(status, TaskStatus::Done | TaskStatus::Cancelled) {
        return Err(Failure::Domain(TaskClaimError::ErrFinished { task_id: id, status }));
    }
    let same_caller = is_same_caller(db, standing.claim.as_ref(), wish, caller_no)?;
    let grant = rules::decide(standing.claim.as_ref(), wish.claim, (&wish.agent_id, same_caller), time)
        .map_err(|refusal| refusal_of_claim(refusal, &id, wish.claim))?;
    if matches!(grant, Grant::New { .. }) {
        let waiting_for = waiting_for(db, &id)?;
        if !waiting_for.is_empty() {
            return Err(Failure::Domain(TaskClaimError::ErrBlocked { task_id: id, waiting_for }));
        }
    }
    let reply = grant_task(db, standing, stamp, (caller_no, wish, time), grant)?;
    Ok(Judged { reply, written: true, set_back: pass(db, time, latest)? })
}

/// Returns whether the newest claim is of the same caller. Two rows are one caller if another one spoke in between.
fn is_same_caller(db: &Db, newest: Option<&Claim>, wish: &ClaimWish, caller_no: i64) -> Result<bool, Fault> {
    let Some(claim) = newest.filter(|claim| wish.claim.is_none() && claim.agent_id == wish.agent_id) else {
        return Ok(false);
    };
    if claim.caller_no == caller_no {
        return Ok(true);
    }
    let (holder, asking) = (caller(db, claim.caller_no)?, caller(db, caller_no)?);
    Ok(holder.zip(asking).is_some_and(|(holder, asking)| holder.is_same_caller(&asking)))
}

fn nothing(retry_at: Option<String>) -> TaskClaimOutput {
    TaskClaimOutput {
        task: None,
        claim: None,
        agent_id: None,
        until: None,
        renewed: false,
        taken_over_from: None,
        retry_at,
    }
}

/// Writes the event and the claim.
fn grant_task(
    db: &Db,
    standing: Standing,
    stamp: Stamp<'_>,
    (caller_no, wish, time): (i64, &ClaimWish, Time),
    grant: Grant,
) -> Result<TaskClaimOutput, Fault> {
    let (at, lease_until) = (time.text(), time.lease(wish.lease_seconds));
    let sequence_no = stamp.sequence_no.unwrap_or_default();
    let (claim, kind, taken_over_from) = match (grant, standing.claim.clone()) {
        (Grant::Renewed, Some(claim)) => {
            (Claim { lease_until, sequence_no, ..claim }, TaskEventKind::Renewed, None)
        }
        (Grant::Renewed, None) => return Err(Fault::Other("there is no claim to renew".to_owned())),
        (Grant::New { no, taken_over_from }, _) => {
            let kind =
                if taken_over_from.is_some() { TaskEventKind::TakenOver } else { TaskEventKind::Claimed };
            let claim = Claim {
                no,
                agent_id: wish.agent_id.clone(),
                caller_no,
                claimed_at: at.clone(),
                lease_until,
                released_at: None,
                sequence_no,
            };
            (claim, kind, taken_over_from)
        }
    };
    let changes = match &taken_over_from {
        Some(old) => change::held_by(old, &claim.agent_id),
        None => change::NOTHING.to_owned(),
    };
    tell(db, &standing, stamp, (kind, &at, changes), &claim)?;
    store::put(db, &standing.task.id, &claim)?;
    Ok(TaskClaimOutput {
        task: Some(standing.task),
        claim: Some(claim.no),
        agent_id: Some(claim.agent_id),
        until: Some(claim.lease_until),
        renewed: kind == TaskEventKind::Renewed,
        taken_over_from,
        retry_at: None,
    })
}

fn tell(
    db: &Db,
    standing: &Standing,
    stamp: Stamp<'_>,
    (kind, at, changes): (TaskEventKind, &str, String),
    claim: &Claim,
) -> Result<(), Fault> {
    let part =
        ClaimPart { no: claim.no, agent_id: claim.agent_id.clone(), lease_until: claim.lease_until.clone() };
    let (to, task_call) = (standing.task.status, standing.call);
    history::append(db, standing, stamp, Entry { kind, to, task_call, at, changes, claim: Some(part) })
}

/// Stores the time that a claim went by. Returns the stored time before it, if a wrong clock had written that.
fn pass(db: &Db, time: Time, latest: Option<String>) -> Result<Option<String>, Fault> {
    store::set_clock(db, &time.text())?;
    Ok(latest.filter(|_| time.set_back))
}

/// Gives a task back. A claim that has been released before is left as it is.
///
/// # Errors
/// The tool's declared errors, before any write; storage faults.
pub(crate) fn release_task(
    db: &Db,
    stamp: Stamp<'_>,
    id: &str,
    number: i64,
) -> Outcome<Judged<TaskReleaseOutput>, TaskReleaseError> {
    let task_id = id.to_owned();
    let Some(standing) = live_standing(db, id)? else {
        return Err(Failure::Domain(TaskReleaseError::ErrNotFound { task_id }));
    };
    let Some(claim) = standing.claim.as_ref().filter(|claim| claim.no == number) else {
        let newest = standing.claim.as_ref().map(|claim| claim.no);
        return Err(Failure::Domain(TaskReleaseError::ErrClaimStale { task_id, claim: number, newest }));
    };
    let reply = |released_at: &str| TaskReleaseOutput {
        task_id,
        claim: claim.no,
        agent_id: claim.agent_id.clone(),
        released_at: released_at.to_owned(),
    };
    if let Some(released_at) = &claim.released_at {
        return Ok(Judged { reply: reply(released_at), written: false, set_back: None });
    }
    let latest = clock(db)?;
    let time = Time::of_call(stamp.entered_ms, latest.as_deref());
    let at = time.text();
    tell(db, &standing, stamp, (TaskEventKind::Released, &at, change::NOTHING.to_owned()), claim)?;
    store::end(db, id, &at, stamp.sequence_no.unwrap_or_default())?;
    Ok(Judged { reply: reply(&at), written: true, set_back: pass(db, time, latest)? })
}

/// Checks that a call which names this claim, or none, may change the task.
///
/// # Errors
/// The tool's refusal; storage faults.
pub(super) fn check_change(
    db: &Db,
    standing: &Standing,
    stamp: Stamp<'_>,
    number: Option<i64>,
) -> Result<(), Failure<TaskUpdateError>> {
    let newest = standing.claim.as_ref();
    // Unless a lease may still run, the time does not matter.
    let time = match newest {
        Some(claim) if number.is_none() && claim.released_at.is_none() => now(db, stamp.entered_ms)?,
        _ => Time::of_call(stamp.entered_ms, None),
    };
    let task_id = || standing.task.id.clone();
    rules::may_change(newest, number, time).map_err(|refusal| {
        Failure::Domain(match refusal {
            Refusal::Held { by, until } => {
                TaskUpdateError::ErrClaimed { task_id: task_id(), held_by: by, until }
            }
            Refusal::Stale { newest } => {
                let claim = number.unwrap_or_default();
                TaskUpdateError::ErrClaimStale { task_id: task_id(), claim, newest }
            }
        })
    })
}

/// Ends the claim of a task that has just been finished: by rule, and without an event of its own.
pub(super) fn end_with_task(db: &Db, standing: &Standing, stamp: Stamp<'_>, at: &str) -> Result<(), Fault> {
    match &standing.claim {
        Some(claim) if claim.released_at.is_none() => {
            store::end(db, &standing.task.id, at, stamp.sequence_no.unwrap_or_default())
        }
        _ => Ok(()),
    }
}

/// Returns the time that a call goes by.
///
/// # Errors
/// Storage faults.
pub(crate) fn now(db: &Db, entered_ms: i64) -> Result<Time, Fault> {
    Ok(Time::of_call(entered_ms, clock(db)?.as_deref()))
}

/// Says of each task who holds it.
///
/// # Errors
/// Storage faults.
pub(crate) fn show_holders<T: Listed>(db: &Db, tasks: &mut [T], entered_ms: i64) -> Result<(), Fault> {
    let mut held = store::unreleased(db, tasks)?;
    if held.is_empty() {
        return Ok(());
    }
    let time = now(db, entered_ms)?;
    held.retain(|_, claim| claim.is_live(time));
    for task in tasks {
        if let Some(claim) = held.remove(task.id()) {
            task.hold(TaskHold { by: claim.agent_id, until: claim.lease_until });
        }
    }
    Ok(())
}

fn refusal_of_claim(refusal: Refusal, id: &str, number: Option<i64>) -> Failure<TaskClaimError> {
    let task_id = id.to_owned();
    Failure::Domain(match refusal {
        Refusal::Held { by, until } => TaskClaimError::ErrClaimed { task_id, held_by: by, until },
        Refusal::Stale { newest } => {
            TaskClaimError::ErrClaimStale { task_id, claim: number.unwrap_or_default(), newest }
        }
    })
}
