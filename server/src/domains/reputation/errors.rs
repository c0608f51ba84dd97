//! The only conversion of an invalid row, and of an epoch that lies too far ahead, into a tool's declared error.

use colibri_runtime::handler::Failure;

use super::epoch::EpochFuture;
use super::standing::RowInvalid;
use crate::catalogue::{
    ReputationCheckGatesError, ReputationGetError, ReputationHistoryError, ReputationLeaderboardError,
};

/// Converts a failure for the tool's reply.
pub fn answered<R, E: From<R>>(failure: Failure<R>) -> Failure<E> {
    match failure {
        Failure::Domain(refusal) => Failure::Domain(refusal.into()),
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

impl From<EpochFuture> for ReputationGetError {
    fn from(EpochFuture { current_epoch, present_epoch }: EpochFuture) -> Self {
        Self::ErrEpochFuture { current_epoch, present_epoch }
    }
}

impl From<EpochFuture> for ReputationLeaderboardError {
    fn from(EpochFuture { current_epoch, present_epoch }: EpochFuture) -> Self {
        Self::ErrEpochFuture { current_epoch, present_epoch }
    }
}

impl From<EpochFuture> for ReputationCheckGatesError {
    fn from(EpochFuture { current_epoch, present_epoch }: EpochFuture) -> Self {
        Self::ErrEpochFuture { current_epoch, present_epoch }
    }
}
