//! Why the trail refuses, and the one place where a refusal becomes a tool's declared error.

use colibri_runtime::handler::{Failure, Fault};

use super::verify::SessionNotFound;
use crate::catalogue::{AuditVerifyChainError, ThoughtRecordError, ThoughtRecordListError};

/// Why a thought was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A field breaks a limit of zeta §3. On the tools' path stage 2 has refused it before.
    #[error("{field} {rule}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What it must be.
        rule: &'static str,
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

/// The same for a verification.
pub fn unverified(failure: Failure<SessionNotFound>) -> Failure<AuditVerifyChainError> {
    match failure {
        Failure::Domain(SessionNotFound { session_id }) => {
            Failure::Domain(AuditVerifyChainError::ErrSessionNotFound { session_id })
        }
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}
