//! Rows that are written late: of calls whose exit could not be stored, and of calls that were answered before the store
//! could be written to.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::row::{Entered, Row};
use crate::chain::store::{Access, Store, StoreFault};
use crate::chain::{BUFFERED_CALLS, Chain, TURN_LIMIT};
use crate::handler::Dispatch;

/// A call whose exit record is not stored yet.
pub(super) struct Unclosed {
    pub(super) row: Row,
    pub(super) ending: Ending,
    /// A network tool's reply has gone out already; its row must be closed before anything else runs.
    pub(super) must_close: bool,
    /// Closed in a transaction that is not committed yet.
    pub(super) closed: bool,
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    pub(super) fn note_unclosed(&mut self, row: &Row, ending: &Ending, must_close: bool) {
        self.exit_failures += 1;
        self.forget_unclosed(row);
        if row.sequence_no.is_some() {
            let ending = Ending { answer: None, result: None, ..ending.clone() };
            self.unclosed.push(Unclosed { row: row.clone(), ending, must_close, closed: false });
        }
    }

    /// Drops the note about a row from before its call ended anew.
    pub(super) fn forget_unclosed(&mut self, row: &Row) {
        self.unclosed.retain(|record| record.row.sequence_no != row.sequence_no);
    }

    /// Closes rows whose exit could not be stored, in order, inside the open transaction. Once that is
    /// committed, [`Chain::forget_closed`] forgets them. A row that still refuses stops everything only if it
    /// is a network tool's.
    pub(super) fn close_unclosed(&mut self) -> Result<(), StoreFault> {
        for record in &mut self.unclosed {
            let Some(sequence_no) = record.row.sequence_no else { continue };
            // A commit that was reported as failed may still have taken effect.
            record.closed = !self.store.audit_is_open(sequence_no)?;
            if record.closed {
                continue;
            }
            self.store.savepoint()?;
            let closed = match record.row.close_in(&mut self.store, &record.ending) {
                Ok(()) => Ok(()),
                // The engine has rolled everything back, and its reason explains the failure.
                Err(fault) if !self.store.in_transaction() => return Err(fault),
                Err(fault) => {
                    self.store.roll_back_to_savepoint()?;
                    Err(fault)
                }
            };
            record.closed = closed.is_ok();
            if record.must_close {
                closed?;
            }
            self.store.release()?;
        }
        Ok(())
    }

    /// The same in a transaction a row, for an engine that postpones statements up to the commit.
    pub(super) fn close_unclosed_apart(&mut self) -> Result<(), StoreFault> {
        let mut stopped = Ok(());
        for record in std::mem::take(&mut self.unclosed) {
            let closed = if stopped.is_ok() { self.close_apart(&record) } else { stopped.clone() };
            let Err(fault) = closed else { continue };
            self.roll_back();
            if record.must_close {
                stopped = Err(fault);
            }
            self.unclosed.push(record);
        }
        stopped
    }

    fn close_apart(&mut self, record: &Unclosed) -> Result<(), StoreFault> {
        let Some(sequence_no) = record.row.sequence_no else { return Ok(()) };
        self.begin(Access::Write)?;
        // A commit that was reported as failed may still have taken effect.
        if self.store.audit_is_open(sequence_no)? {
            record.row.close_in(&mut self.store, &record.ending)?;
        }
        self.commit()
    }

    pub(super) fn forget_closed(&mut self) {
        self.unclosed.retain(|record| !record.closed);
    }

    /// Keeps the row of an ended call until it can be written.
    pub(super) fn buffer(&mut self, call: &Entered, ending: &Ending) {
        let ending = Ending { answer: None, result: None, ..ending.clone() };
        self.buffered.push(Unclosed { row: call.row.clone(), ending, must_close: false, closed: false });
    }

    /// Returns whether a further call may be answered before its row can be written.
    pub(crate) fn may_answer_early(&self) -> bool {
        self.buffered.len() < BUFFERED_CALLS
    }

    /// Returns whether calls were answered whose rows are still to be written.
    pub(crate) fn has_buffered(&self) -> bool {
        !self.buffered.is_empty()
    }

    /// Writes the rows of the calls that were answered while another process held the turn to write. Keeps rows that the
    /// store refuses, and returns whether it took them.
    pub(crate) fn write_buffered(&mut self) -> bool {
        let written = self.flush_buffer();
        if let Err(fault) = &written {
            self.roll_back();
            self.log(Level::Error, format_args!("[audit] rows of answered calls are pending: {fault}"));
        }
        self.store.leave_queue();
        self.sync();
        written.is_ok()
    }

    pub(super) fn flush_buffer(&mut self) -> Result<(), StoreFault> {
        if self.buffered.is_empty() {
            return Ok(());
        }
        self.begin(Access::Enter)?;
        self.introductions.begin();
        self.enter_buffered()?;
        self.commit()?;
        self.introductions.commit();
        self.buffered.clear();
        Ok(())
    }

    fn enter_buffered(&mut self) -> Result<(), StoreFault> {
        let mut buffered = std::mem::take(&mut self.buffered);
        let entered = buffered.iter_mut().try_for_each(|record| {
            self.introduce(&record.row)?;
            record.row.sequence_no = Some(self.store.audit_enter(&record.row.enter_event(&Value::Null))?);
            record.row.close_in(&mut self.store, &record.ending)
        });
        self.buffered = buffered;
        entered
    }

    /// Gives up the rows of calls that were answered early, because the database will not open in time. The log says so.
    pub(crate) fn give_up_rows(&mut self) {
        let lost = std::mem::take(&mut self.buffered);
        if !lost.is_empty() {
            let count = lost.len();
            let tools: BTreeSet<_> = lost.iter().map(|record| record.row.tool.as_str()).collect();
            let tools = tools.into_iter().collect::<Vec<_>>().join(", ");
            self.log(
                Level::Warn,
                format_args!(
                    "[audit] answered before the database was open and without a row ({count}): {tools}"
                ),
            );
        }
    }

    fn close_all(&mut self) -> Result<(), StoreFault> {
        self.begin_entering(&mut [])?;
        self.enter_buffered()?;
        self.commit_entered()?;
        self.buffered.clear();
        Ok(())
    }

    /// Writes notes, and rows that are still open or buffered; called once at shutdown, after the last call. After a failed sync it
    /// begins nothing: the next start closes the rows.
    pub fn close_pending(&mut self) {
        let nothing = self.unclosed.is_empty() && self.buffered.is_empty() && self.notes.is_empty();
        if nothing || !self.audit.is_store() || self.fatal.is_some() {
            return;
        }
        // Without the turn, `begin` reports what is in the way.
        let _ = self.store.wait_turn(TURN_LIMIT);
        self.write_notes_first();
        if let Err(fault) = self.close_all() {
            self.roll_back();
            self.log(Level::Error, format_args!("[audit] pending exits could not be closed: {fault}"));
            let missing = self.buffered.len();
            if missing > 0 {
                self.log(Level::Error, format_args!("[audit] {missing} answered calls have no row"));
            }
        }
        self.store.leave_queue();
    }
}
