//! Why the trail refuses, and the one place where a refusal becomes a tool's declared error.

use colibri_runtime::handler::{Failure, Fault};

use crate::catalogue::{ThoughtRecordError, ThoughtRecordListError};

/// Why a thought was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A field breaks a limit of trail#limits. On the tools' path stage 2 has refused it before.
    #[error("{field} {rule}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What it must be.
        rule: &'static str,
    },
    /// The table has not taken the record. It takes records of open sessions alone, so the cited session may be the reason:
    /// the proof store knows ([`explained`](crate::domains::proof::explained)).
    #[error("{fault}")]
    NotAppended {
        /// What the engine said.
        fault: Fault,
        /// The session that the record cites.
        session_id: Option<String>,
    },
    /// The cited session does not exist.
    #[error("Audit session not found: {0}")]
    SessionNotFound(String),
    /// The cited session is sealed.
    #[error("Audit session already finalized: {0}")]
    AlreadyFinalized(String),
}

/// A page was to start behind a record that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("No thought record has the id {after}")]
pub struct CursorNotFound {
    /// The id as it was given.
    pub after: String,
}

/// A refusal as the tool answers it.
pub fn answered(failure: Failure<Refusal>) -> Failure<ThoughtRecordError> {
    match failure {
        Failure::Domain(Refusal::SessionNotFound(session_id)) => {
            Failure::Domain(ThoughtRecordError::ErrSessionNotFound { session_id })
        }
        Failure::Domain(Refusal::AlreadyFinalized(session_id)) => {
            Failure::Domain(ThoughtRecordError::ErrAlreadyFinalized { session_id })
        }
        Failure::Domain(Refusal::NotAppended { fault, .. }) => Failure::Fault(fault),
        Failure::Domain(invalid @ Refusal::Invalid { .. }) => {
            Failure::Fault(Fault::Other(invalid.to_string()))
        }
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}

/// The same for a page.
pub fn unlisted(failure: Failure<CursorNotFound>) -> Failure<ThoughtRecordListError> {
    match failure {
        Failure::Domain(CursorNotFound { after }) => {
            Failure::Domain(ThoughtRecordListError::ErrCursorNotFound { after })
        }
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}
