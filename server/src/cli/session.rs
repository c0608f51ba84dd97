//! The session that a command is about.

use colibri_runtime::handler::Fault;

use super::Failure;
use super::ids::{Kind, also_meant, resolve, shadowed};
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

/// Returns the id of the session that is meant: its id, or a few characters of it.
///
/// # Errors
/// [`Failure::Usage`] if no session or several have them.
pub fn id_of(db: &Db, fragment: &str) -> Result<String, Failure> {
    // A session whose own row is missing is found by its whole id, so that the damage can be named.
    match proof::session_state(db, fragment).map_err(unreadable)? {
        Some(_) => match also_meant(db, Kind::Session, fragment)? {
            others if others.is_empty() => Ok(fragment.to_owned()),
            others => Err(shadowed(fragment, Kind::Session, &others)),
        },
        None => resolve(db, Kind::Session, fragment),
    }
}

/// Finds a session by its id or a few characters of it, and its seal if it has one.
///
/// # Errors
/// As [`id_of`]; [`Failure::Failed`] if a part of the session is missing.
pub fn find(db: &Db, fragment: &str) -> Result<Found, Failure> {
    stored(db, &id_of(db, fragment)?)
}

/// Returns the session with that id, and its seal if it has one.
///
/// # Errors
/// [`Failure::Failed`] if a part of the session is missing.
pub fn stored(db: &Db, session_id: &str) -> Result<Found, Failure> {
    let state = proof::session_state(db, session_id).map_err(unreadable)?;
    let session = proof::session(db, session_id).map_err(unreadable)?;
    let (Some(state), Some(session)) = (state, session) else {
        return Err(damaged(session_id, "its own row is missing"));
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
