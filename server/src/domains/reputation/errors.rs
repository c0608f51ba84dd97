//! The only conversion of an invalid row into a tool's declared error.

use colibri_runtime::handler::Failure;

use super::standing::RowInvalid;
use crate::catalogue::{
    ReputationCheckGatesError, ReputationGetError, ReputationHistoryError, ReputationLeaderboardError,
};

/// Converts a failure for the tool's reply.
pub fn answered<E: From<RowInvalid>>(failure: Failure<RowInvalid>) -> Failure<E> {
    match failure {
        Failure::Domain(row) => Failure::Domain(row.into()),
        Failure::Fault(fault) => Failure::Fault(fault),
    }
}

impl From<RowInvalid> for ReputationGetError {
    fn from(RowInvalid { node_id, domain, field }: RowInvalid) -> Self {
        Self::ReputationRowInvalid { node_id, domain, field: field.to_owned() }
    }
}

impl From<RowInvalid> for ReputationHistoryError {
    fn from(RowInvalid { node_id, domain, field }: RowInvalid) -> Self {
        Self::ReputationRowInvalid { node_id, domain, field: field.to_owned() }
    }
}

impl From<RowInvalid> for ReputationLeaderboardError {
    fn from(RowInvalid { node_id, domain, field }: RowInvalid) -> Self {
        Self::ReputationRowInvalid { node_id, domain, field: field.to_owned() }
    }
}

impl From<RowInvalid> for ReputationCheckGatesError {
    fn from(RowInvalid { node_id, domain, field }: RowInvalid) -> Self {
        Self::ReputationRowInvalid { node_id, domain, field: field.to_owned() }
    }
}
