//! Verification of a session: its seal, and the chains of the related tasks.

use std::collections::BTreeSet;

use colibri_proof::chain::{Issue, IssueCode};
use colibri_proof::head::ChainTip;
use colibri_proof::keys::TrustedKeys;
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Failure, Fault};
use colibri_runtime::progress::Progress;

use super::{SealReport, SessionState, each_sealed_record, session_state, tips_of_seal};
use crate::domains::trail::errors::Refusal;
use crate::domains::trail::store;
use crate::domains::trail::verify::{Findings, Verification, verify_tasks};
use colibri_store::db::Db;

/// No session has that id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("There is no audit session {session_id}")]
pub struct SessionNotFound {
    /// The id as it was given.
    pub session_id: String,
}

/// The result of verifying a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionVerification {
    /// The chains. Its count of broken records includes failed checks of heads and seal.
    pub found: Verification,
    /// The session and its seal.
    pub seal: SealReport,
}

/// Returns the reason why a record was not appended: the engine's error, or that its session is closed or missing.
pub fn explained(db: &Db, failure: Failure<Refusal>) -> Failure<Refusal> {
    let Failure::Domain(Refusal::NotAppended { fault, session_id: Some(session_id) }) = failure else {
        return failure;
    };
    match session_state(db, &session_id) {
        Ok(Some(SessionState::Finalized)) => Failure::Domain(Refusal::AlreadyFinalized(session_id)),
        Ok(None) => Failure::Domain(Refusal::SessionNotFound(session_id)),
        // If SQLite cannot answer now, its earlier error is the reason.
        Ok(Some(SessionState::Open)) | Err(_) => Failure::Fault(fault),
    }
}

/// Checks that a session takes records, where the table's own refusal would come too late.
///
/// # Errors
/// The [`Refusal`] that [`explained`] finds on other engines; storage faults.
pub fn admit_record(db: &Db, session_id: Option<&str>) -> Result<(), Failure<Refusal>> {
    let Some(session_id) = session_id.filter(|_| db.postpones()) else { return Ok(()) };
    match session_state(db, session_id)? {
        Some(SessionState::Open) => Ok(()),
        Some(SessionState::Finalized) => {
            Err(Failure::Domain(Refusal::AlreadyFinalized(session_id.to_owned())))
        }
        None => Err(Failure::Domain(Refusal::SessionNotFound(session_id.to_owned()))),
    }
}

/// Verifies the seal of a session and the chains of its related tasks, or of one of them.
///
/// # Errors
/// [`SessionNotFound`]; storage faults; [`Fault::Other`] if interrupted. A finding is not an error.
pub fn verify_session(
    db: &Db,
    session_id: &str,
    task_id: Option<&str>,
    trusted: &TrustedKeys,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<SessionVerification, Failure<SessionNotFound>> {
    if session_state(db, session_id)?.is_none() {
        return Err(Failure::Domain(SessionNotFound { session_id: session_id.to_owned() }));
    }
    let mut sealed = Findings::default();
    let seal = verify_seal(db, session_id, trusted, &mut sealed)?;
    let mut tasks = tasks_of(db, &seal)?;
    tasks.retain(|task| task_id.is_none_or(|only| only == task));
    let mut found = verify_tasks(db, &tasks, sealed, interrupt, progress)?;
    found.broken_count += seal.issues;
    if found.first_broken_at.is_none() {
        found.first_broken_at.clone_from(&seal.first_broken_at);
    }
    Ok(SessionVerification { found, seal })
}

/// Checks the seal, and that every chain still holds the tip that the seal recorded.
fn verify_seal(
    db: &Db,
    session_id: &str,
    trusted: &TrustedKeys,
    findings: &mut Findings,
) -> Result<SealReport, Fault> {
    let mut seal = super::verify_seal(db, session_id, trusted, &mut |issue| findings.add(issue))?;
    for tip in &tips_of_seal(db, session_id)? {
        let Some(issue) = regression(db, session_id, tip)? else { continue };
        seal.issues += 1;
        seal.tree_head_match = Some(false);
        if seal.first_broken_at.is_none() {
            seal.first_broken_at.clone_from(&issue.record_id);
        }
        findings.add(issue);
    }
    if seal.issues > 0 && seal.first_broken_at.is_none() {
        seal.first_broken_at = store::first_of_session(db, session_id)?;
    }
    Ok(seal)
}

/// Returns the tasks related to a session: those of its records and of its seal's tips. If the seal is broken, adds
/// those of the sealed records, which may have been removed from the session.
fn tasks_of(db: &Db, seal: &SealReport) -> Result<BTreeSet<String>, Fault> {
    let mut tasks = BTreeSet::from_iter(store::tasks_of_session(db, &seal.session_id)?);
    tasks.extend(tips_of_seal(db, &seal.session_id)?.into_iter().map(|tip| tip.task_id));
    if seal.issues > 0 {
        each_sealed_record(db, &seal.session_id, |id| {
            tasks.extend(store::task_of(db, id)?);
            Ok(())
        })?;
    }
    Ok(tasks)
}

/// Returns an issue if a chain no longer holds the tip that a seal recorded.
fn regression(db: &Db, session_id: &str, tip: &ChainTip) -> Result<Option<Issue>, Fault> {
    let found = store::record_at(db, &tip.task_id, tip.chain_length)?;
    let (record_id, hash) = match found {
        Some((_, hash)) if hash == tip.tip_hash => return Ok(None),
        Some((id, hash)) => (Some(id), hash),
        None => (None, "no such record".to_owned()),
    };
    Ok(Some(Issue {
        task_id: Some(tip.task_id.clone()),
        session_id: Some(session_id.to_owned()),
        record_id,
        index: Some(tip.chain_length.saturating_sub(1)),
        ..Issue::new(IssueCode::TipRegression).comparing(&tip.tip_hash, &hash)
    }))
}
