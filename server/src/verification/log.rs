//! The log of calls: its chain, numbering and head (chain#audit-row). The same pass checks the ties of rows to calls,
//! and the checkpoint's values.

use super::callers::Callers;
use super::history;
use super::pinned;
use super::run::Run;
use super::ties::Ties;
use super::wraps::Wraps;
use colibri_proof::checkpoint::{Checkpoint, OpenCall};
use colibri_proof::log_row::{ClosedRow, OpenRow};
use colibri_store::log::verify::{ActionsFinding, LogEnd, LogVisitor, count_calls, walk_log};
use colibri_store::walk::Stop;

/// The check's name.
pub const NAME: &str = "log";

/// Walks the log and returns its end, and the calls that still run.
///
/// # Errors
/// The engine's error.
pub fn check(
    run: &mut Run<'_>,
    followers: Followers<'_>,
    checkpoint: Option<&Checkpoint>,
) -> Result<(LogEnd, Vec<OpenCall>), Stop> {
    let total = count_calls(run.db)?;
    run.begin(NAME, total.unsigned_abs());
    let db = run.db;
    let mut follower = Follower { run, followers, checkpoint, open: Vec::new() };
    let end = walk_log(db, &mut follower)?;
    let open = follower.open;
    run.count("closed calls", end.last_exit_no.unsigned_abs());
    run.count("running calls", end.running.unsigned_abs());
    if let Some(checkpoint) = checkpoint {
        pinned::compare_log_end(checkpoint, run, &end)?;
    }
    Ok((end, open))
}

/// The checks that the calls are handed to.
pub struct Followers<'a> {
    /// Rows against their calls.
    pub ties: &'a mut Ties,
    /// Callers.
    pub callers: &'a mut Callers,
    /// The histories of tasks.
    pub told: &'a mut history::Calls,
    /// Wrapped calls.
    pub wraps: &'a mut Wraps,
}

struct Follower<'r, 'd, 't> {
    run: &'r mut Run<'d>,
    followers: Followers<'t>,
    checkpoint: Option<&'t Checkpoint>,
    open: Vec<OpenCall>,
}

impl LogVisitor<Stop> for Follower<'_, '_, '_> {
    fn closed(&mut self, row: &ClosedRow<'_>, row_hash: &str) -> Result<(), Stop> {
        if let Some(checkpoint) = self.checkpoint {
            pinned::compare_log_row(checkpoint, self.run, row.exit_no, row_hash);
        }
        let Followers { ties, callers, told, wraps } = &mut self.followers;
        callers.call(self.run, row.tool, row.boot_id, row.sequence_no)?;
        wraps.call(self.run, row)?;
        told.call(self.run.db, row)?;
        ties.call(self.run, row)
    }

    fn open(&mut self, row: &OpenRow<'_>) {
        self.followers.callers.running(row.boot_id, row.sequence_no);
        self.followers.wraps.running(row.boot_id, row.tool, row.sequence_no);
        self.open.push(OpenCall { sequence_no: row.sequence_no, enter_hash: row.hash() });
    }

    fn found(&mut self, finding: ActionsFinding) {
        self.run.found(finding.code(), || (finding.subject(), finding.to_string()));
    }

    fn go_on(&mut self) -> Result<bool, Stop> {
        self.run.step()?;
        Ok(true)
    }
}
