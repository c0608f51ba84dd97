//! Reputation (lambda): what a node's work, as others acknowledge it, is worth in five domains.
//!
//! The arithmetic is pure: a standing and an event in, the next standing out. Every step is an entry of a
//! hash-chained ledger from which all standings follow.
//!
//! ```text
//! tasks, proof -> feed -+-> writer (inside the caller's savepoint) -> store (SQL)
//!                       |     |- gain, penalty   what the event makes of the standing
//!                       |     |- ledger          the entry and its hash
//!                       |     '- epoch           the logical clock
//!                       '-> experience           tokens: evidence of work
//! operator -> import ----'     |- replay          the ledger taken again, for `tie` and verification
//! tool (typed input) -> service, leaderboard -> store
//!                         |- decay, fading   what inactivity takes, on the way out
//!                         '- gates           what a standing allows
//! ```

#![deny(clippy::float_arithmetic)]

pub mod automatic;
pub mod decay;
pub mod domain;
pub mod epoch;
mod errors;
pub mod event;
pub mod experience;
pub mod fading;
pub mod feed;
pub mod gain;
pub mod gates;
pub mod import;
pub mod leaderboard;
pub mod ledger;
mod output;
pub mod pack;
pub mod penalty;
pub mod replay;
pub mod score;
pub mod service;
pub mod snapshot;
pub mod standing;
mod store;
pub mod ties;
pub mod tokens;
pub mod ulid;
pub mod writer;

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Outcome;

pub use self::store::HistoryEvent;

use self::errors::answered;
use crate::catalogue::{
    ReputationCheckGatesError, ReputationCheckGatesInput, ReputationCheckGatesOutput, ReputationGetError,
    ReputationGetInput, ReputationGetOutput, ReputationHistoryError, ReputationHistoryInput,
    ReputationHistoryOutput, ReputationImportError, ReputationImportInput, ReputationImportOutput,
    ReputationLeaderboardError, ReputationLeaderboardInput, ReputationLeaderboardOutput, ReputationTools,
};
use crate::context::{Cx, ScanCx};
use crate::domains::Domains;

impl ReputationTools<Cx> for Domains {
    fn reputation_get(
        &mut self,
        cx: &mut Cx,
        input: ReputationGetInput,
    ) -> Outcome<ReputationGetOutput, ReputationGetError> {
        let ReputationGetInput { node_id, domain, current_epoch } = input;
        Ok(match domain {
            Some(domain) => {
                let row =
                    service::standing(cx.db()?, &node_id, domain.into(), current_epoch).map_err(answered)?;
                ReputationGetOutput { row: Some(row.map(Into::into)), rows: None }
            }
            None => {
                let rows = service::standings(cx.db()?, &node_id, current_epoch).map_err(answered)?;
                ReputationGetOutput { row: None, rows: Some(rows.into_iter().map(Into::into).collect()) }
            }
        })
    }

    fn reputation_history(
        &mut self,
        cx: &mut Cx,
        input: ReputationHistoryInput,
    ) -> Outcome<ReputationHistoryOutput, ReputationHistoryError> {
        let ReputationHistoryInput { node_id, domain, limit, offset } = input;
        let page = service::history(cx.db()?, &node_id, domain.into(), limit, offset).map_err(answered)?;
        Ok(page.into())
    }

    fn reputation_leaderboard(
        cx: &mut ScanCx,
        interrupt: &Interrupt,
        input: ReputationLeaderboardInput,
    ) -> Outcome<ReputationLeaderboardOutput, ReputationLeaderboardError> {
        let ReputationLeaderboardInput { domain, current_epoch, limit } = input;
        let limit = usize::try_from(limit).unwrap_or_default();
        let rows = leaderboard::leaderboard(cx.db(), domain.into(), current_epoch, limit, interrupt)
            .map_err(answered)?;
        Ok(ReputationLeaderboardOutput { rows: rows.into_iter().map(Into::into).collect() })
    }

    fn reputation_check_gates(
        &mut self,
        cx: &mut Cx,
        input: ReputationCheckGatesInput,
    ) -> Outcome<ReputationCheckGatesOutput, ReputationCheckGatesError> {
        let ReputationCheckGatesInput { node_id, current_epoch } = input;
        let gates = service::check_gates(cx.db()?, &node_id, current_epoch).map_err(answered)?;
        Ok(output::checked(node_id, current_epoch, gates))
    }

    fn reputation_import(
        &mut self,
        cx: &mut Cx,
        input: ReputationImportInput,
    ) -> Outcome<ReputationImportOutput, ReputationImportError> {
        import::import(cx, input)
    }
}
