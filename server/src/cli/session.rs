//! The session that a command is about.

use colibri_runtime::handler::Fault;

use super::Failure;
use crate::domains::proof::{self, Root, Session, SessionState};
use colibri_proof::head::SignedTreeHead;
use colibri_store::db::Db;

/// A session as it is stored.
pub struct Found {
    /// Its facts.
    pub session: Session,
    /// Its seal; `None` while it is open.
    pub seal: Option<(Root, SignedTreeHead)>,
}

impl Found {
    /// Returns the tree head of a sealed session.
    pub fn head(&self) -> Option<&SignedTreeHead> {
        self.seal.as_ref().map(|(_, head)| head)
    }
}

/// Finds a session, and its seal if it has one.
///
/// # Errors
/// [`Failure::Usage`] if the session does not exist, [`Failure::Failed`] if a part of it is missing.
pub fn find(db: &Db, session_id: &str) -> Result<Found, Failure> {
    let state = proof::session_state(db, session_id).map_err(unreadable)?;
    let session = proof::session(db, session_id).map_err(unreadable)?;
    let (state, session) = match (state, session) {
        (Some(state), Some(session)) => (state, session),
        (None, _) => {
            return Err(Failure::Usage(format!(
                "there is no audit session {session_id}; colibri sessions lists them"
            )));
        }
        (Some(_), None) => return Err(damaged(session_id, "its own row is missing")),
    };
    let seal = match state {
        SessionState::Open => None,
        SessionState::Finalized => {
            let root = proof::root(db, session_id).map_err(unreadable)?;
            let head = proof::head_of(db, session_id).map_err(unreadable)?;
            let seal = root.zip(head);
            Some(seal.ok_or_else(|| damaged(session_id, "its root or its tree head is missing"))?)
        }
    };
    Ok(Found { session, seal })
}

fn damaged(session_id: &str, what: &str) -> Failure {
    Failure::Failed(format!(
        "audit session {session_id} is damaged: {what}; `colibri verify` lists all damage"
    ))
}

/// Returns the failure of a database that stopped answering.
pub fn unreadable(fault: Fault) -> Failure {
    Failure::Failed(format!("the database cannot be read: {fault}; `colibri doctor` says what to do"))
}
