//! Recomputes the log (chain#audit-row) in constant memory:
//!
//! - [`walk_log`] goes through all of it and tells a [`LogVisitor`] what it reads and what does not fit;
//! - [`verify_actions`] stops at the first finding; boot checks only the end of the log;
//! - `plausible` knows which values no call leaves in a column.

mod call;
mod finding;
mod plausible;
mod walk;

use colibri_runtime::handler::Fault;

pub use self::call::{Call, Calls, each_subject_of, with_call};
pub use self::finding::ActionsFinding;
use self::walk::{LAST, Walk, check_head};
pub use self::walk::{LogEnd, LogVisitor, count_calls, walk_log};
use crate::db::Db;
use crate::log::rows::{CLOSED_COLUMNS, OPEN_COLUMNS, read_open};
use crate::params;
use colibri_canonical::HexDigest;
use colibri_proof::log_row::{ClosedRow, OpenRow};

/// What a walk over the log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionsReport {
    /// Closed rows that were recomputed.
    pub closed: i64,
    /// The hash of the last of them, which an auditor keeps outside the file.
    pub last_row_hash: HexDigest,
    /// Rows still running. They are outside the chain until they are closed.
    pub running: i64,
    /// The first thing that does not fit; `None` for a sound log.
    pub finding: Option<ActionsFinding>,
}

/// Returns the hash of a call's running row as it was entered, whether it is closed by now or not; `None` if no such
/// call exists.
///
/// # Errors
/// The engine's error.
pub fn enter_hash(db: &Db, sequence_no: i64) -> Result<Option<HexDigest>, Fault> {
    let sql = format!("SELECT {OPEN_COLUMNS} FROM actions WHERE sequence_no = ?1");
    db.query_opt(&sql, params![sequence_no], |row| Ok(read_open(row)?.hash()))
}

/// Walks the whole log up to its first finding.
///
/// # Errors
/// The engine's error; a finding is not an error.
pub(crate) fn verify_actions(db: &Db) -> Result<ActionsReport, Fault> {
    let mut first = FirstFinding(None);
    let end = walk_log(db, &mut first)?;
    Ok(ActionsReport {
        closed: end.last_exit_no,
        last_row_hash: end.last_row_hash,
        running: end.running,
        finding: first.0,
    })
}

/// A visitor that stops at the first thing that does not fit.
struct FirstFinding(Option<ActionsFinding>);

impl LogVisitor<Fault> for FirstFinding {
    fn closed(&mut self, _: &ClosedRow<'_>, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    fn open(&mut self, _: &OpenRow<'_>) {}

    fn found(&mut self, finding: ActionsFinding) {
        self.0.get_or_insert(finding);
    }

    fn go_on(&mut self) -> Result<bool, Fault> {
        Ok(self.0.is_none())
    }
}

/// Checks the end of the log at boot: the last closed row, its hash, and the head (store#integrity).
///
/// # Errors
/// The engine's error.
pub(crate) fn verify_tail(db: &Db) -> Result<Option<ActionsFinding>, Fault> {
    let highest = db.query_opt(LAST, &[], |row| row.get::<i64>(0))?.unwrap_or(0);
    // Start the walk just before the last row, so that only that row is recomputed.
    let last = db.query_opt(
        "SELECT exit_no, prev_hash FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no DESC LIMIT 1",
        &[],
        |row| Ok((row.get::<i64>(0)?, HexDigest::parse(&row.get::<String>(1)?))),
    )?;
    let mut first = FirstFinding(None);
    let mut walk = Walk::from(0, HexDigest::ZERO);
    if let Some((exit_no, prev_hash)) = last {
        let Some(prev_hash) = prev_hash else { return Ok(Some(ActionsFinding::Unreadable { exit_no })) };
        walk = Walk::from(exit_no.saturating_sub(1), prev_hash);
        let sql = format!(
            "SELECT {CLOSED_COLUMNS} FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no DESC LIMIT 1"
        );
        walk.run(db, &sql, &mut first)?;
    }
    Ok(first.0.or_else(|| check_head(db, highest, walk.last_exit_no, walk.last_row_hash)))
}
