//! The reputation tools.

use super::cx::{Cx, ScanCx};
use super::{Domains, recording_at};
use crate::catalogue::{
    ReputationCheckGatesError, ReputationCheckGatesInput, ReputationCheckGatesOutput, ReputationGetError,
    ReputationGetInput, ReputationGetOutput, ReputationHistoryError, ReputationHistoryInput,
    ReputationHistoryOutput, ReputationImportError, ReputationImportInput, ReputationImportOutput,
    ReputationLeaderboardError, ReputationLeaderboardInput, ReputationLeaderboardOutput, ReputationTools,
};
use crate::domains::reputation::errors::answered;
use crate::domains::reputation::{epoch, import, leaderboard, output, service};
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Failure, Outcome};

/// Returns the epoch to which the running call's reply decays.
fn epoch_of_read(cx: &Cx, asked: Option<i64>) -> Result<i64, Failure<epoch::EpochFuture>> {
    epoch::epoch_of_read(cx.db()?, asked, cx.parts.config.epoch_seconds, cx.called_ms())
}

impl ReputationTools<Cx> for Domains {
    fn reputation_get(
        &mut self,
        cx: &mut Cx,
        input: ReputationGetInput,
    ) -> Outcome<ReputationGetOutput, ReputationGetError> {
        let ReputationGetInput { node_id, domain, current_epoch } = input;
        let current_epoch = epoch_of_read(cx, current_epoch).map_err(answered)?;
        let (mut row, mut rows) = (None, None);
        match domain {
            Some(domain) => {
                let standing = service::standing(cx.db()?, &node_id, domain.into(), current_epoch);
                row = Some(standing.map_err(answered)?.map(Into::into));
            }
            None => {
                let standings = service::standings(cx.db()?, &node_id, current_epoch).map_err(answered)?;
                rows = Some(standings.into_iter().map(Into::into).collect());
            }
        }
        Ok(ReputationGetOutput { current_epoch, row, rows })
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
        let seconds = cx.parts.epoch_seconds;
        let current_epoch =
            epoch::epoch_of_read(cx.db(), current_epoch, seconds, cx.now_ms()).map_err(answered)?;
        let rows =
            leaderboard::leaderboard(cx.db(), domain.into(), current_epoch, limit, interrupt, cx.progress())
                .map_err(answered)?;
        Ok(ReputationLeaderboardOutput { current_epoch, rows: rows.into_iter().map(Into::into).collect() })
    }

    fn reputation_check_gates(
        &mut self,
        cx: &mut Cx,
        input: ReputationCheckGatesInput,
    ) -> Outcome<ReputationCheckGatesOutput, ReputationCheckGatesError> {
        let ReputationCheckGatesInput { node_id, current_epoch } = input;
        let current_epoch = epoch_of_read(cx, current_epoch).map_err(answered)?;
        let gates = service::check_gates(cx.db()?, &node_id, current_epoch).map_err(answered)?;
        Ok(output::checked(node_id, current_epoch, gates))
    }

    fn reputation_import(
        &mut self,
        cx: &mut Cx,
        input: ReputationImportInput,
    ) -> Outcome<ReputationImportOutput, ReputationImportError> {
        let dry_run = input.dry_run;
        let imported = import::import(cx.db()?, &recording_at(cx), input, cx.progress())?;
        if dry_run {
            cx.rehearse();
        } else if let Some(entries) = imported.entries {
            cx.set_subject(&entries);
        }
        Ok(imported.report)
    }
}
