//! The trail's refusals, and their only conversion into a tool's declared errors.

use colibri_runtime::handler::{Failure, Fault};

use crate::catalogue::{ThoughtRecordError, ThoughtRecordListError};

/// Why a thought was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A field breaks a limit of trail#limits. Calls of the tools never reach this, because stage 2 refuses them.
    #[error("{field} {rule}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// The table refused the record. It accepts records of open sessions only, so the cited session may be the
    /// reason, which the proof store can determine ([`explained`](crate::domains::proof::explained)).
    #[error("{fault}")]
    NotAppended {
        /// The engine's error.
        fault: Fault,
        /// The session that the record cites.
        session_id: Option<String>,
    },
    /// The cited session does not exist.
    #[error("There is no audit session {0}")]
    SessionNotFound(String),
    /// The cited session is sealed.
    #[error("Audit session {0} is sealed already")]
    AlreadyFinalized(String),
}

/// A page's cursor names a record that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("No thought record has the id {after}")]
pub struct CursorNotFound {
    /// The id as it was given.
    pub after: String,
}

/// Converts a refusal for the tool's reply.
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

/// Converts a page's refusal for the tool's reply.
pub fn unlisted(failure: Failure<CursorNotFound>) -> Failure<ThoughtRecordListError> {
    match failure {
        Failure::Domain(CursorNotFound { after }) => {
            Failure::Domain(ThoughtRecordListError::ErrCursorNotFound { after })
        }
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}
