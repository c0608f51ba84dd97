//! Stages 4 and 5 of one call: the handler's effects and the exit row in one savepoint.

use crate::chain::Chain;
use crate::chain::audit::RowOutcome;
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::row::{Entered, Row};
use crate::chain::store::{Access, Store, StoreFault};
use crate::handler::{Context, Dispatch};

/// How one call left the open transaction.
pub(super) enum Step {
    /// Its savepoint is released; the row is closed, or noted as unclosed.
    Done(Ending),
    /// The engine has rolled the whole transaction back. Carries the handler's result.
    Lost(Option<Ending>),
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Runs stages 4 and 5 of one call in a savepoint of the open transaction. An engine that postpones statements carries those of a
    /// call that is `alone` out before its row is closed, so that a refusal is this call's failure, and not the commit's.
    pub(super) fn effects_of(&mut self, call: &Entered, alone: bool) -> Step {
        if self.store.savepoint().is_err() {
            return Step::Lost(None);
        }
        let mut ending = self.stage_dispatch(call);
        if alone
            && !ending.failed()
            && let Err(fault) = self.store.carry_out()
        {
            ending = self.words(&call.row.tool).storage_failure(&fault.0);
        }
        let undone = ending.failed() || self.is_rehearsal();
        if !self.store.in_transaction() || (undone && !self.undo()) {
            return Step::Lost(Some(ending));
        }
        let mut ending = self.stamp(&call.row, ending);
        if let Err(fault) = call.row.close_in(&mut self.store, &ending) {
            if !self.store.in_transaction() || !self.undo() {
                return Step::Lost(Some(ending));
            }
            ending = self.exit_failed(call, ending, &fault);
        }
        match self.store.release() {
            Ok(()) => Step::Done(ending),
            Err(_) => Step::Lost(Some(ending)),
        }
    }

    /// Undoes what was done since the call's savepoint. Returns whether the transaction is still there.
    fn undo(&mut self) -> bool {
        self.dispatch.rolled_back();
        self.store.roll_back_to_savepoint().is_ok()
    }

    /// Undoes the whole transaction.
    pub(super) fn lose_transaction(&mut self) {
        self.roll_back();
        self.dispatch.rolled_back();
    }

    /// Returns whether the call that has just run asked that none of its effects stay.
    pub(super) fn is_rehearsal(&mut self) -> bool {
        self.store.cx().is_rehearsal()
    }

    /// Runs stages 4 and 5 of one call in a transaction of its own, because the batch's was lost.
    pub(super) fn effects_alone(&mut self, call: &Entered) -> Ending {
        // Its ending in the lost transaction no longer counts. It may end otherwise now, and the row must match
        // the reply.
        self.forget_unclosed(&call.row);
        if let Err(fault) = self.begin(Access::Write) {
            return self.uncommitted(call, None, &fault);
        }
        match self.effects_of(call, true) {
            Step::Done(ending) => match self.commit() {
                Ok(()) => ending,
                Err(fault) => {
                    self.lose_transaction();
                    self.uncommitted(call, Some(&ending), &fault)
                }
            },
            // Its effects are gone already, so only the row is to be written.
            Step::Lost(Some(ending)) if ending.failed() => {
                self.lose_transaction();
                let ending = self.stamp(&call.row, ending);
                match self.write_exit(&call.row, &ending) {
                    Ok(()) => ending,
                    Err(fault) => {
                        self.roll_back();
                        self.exit_failed(call, ending, &fault)
                    }
                }
            }
            Step::Lost(_) => {
                self.lose_transaction();
                self.uncommitted(call, None, &StoreFault("the store rolled the transaction back".to_owned()))
            }
        }
    }

    /// Writes an exit row in a transaction of its own.
    pub(super) fn write_exit(&mut self, row: &Row, ending: &Ending) -> Result<(), StoreFault> {
        self.begin(Access::Write)?;
        row.close_in(&mut self.store, ending)?;
        self.commit()
    }

    /// Ends a call of which nothing is stored: the reply says so, and the row is closed when the store takes it.
    pub(super) fn uncommitted(
        &mut self,
        call: &Entered,
        ending: Option<&Ending>,
        fault: &StoreFault,
    ) -> Ending {
        self.log(Level::Error, format_args!("[audit] {} could not be committed: {fault}", call.row.tool));
        let ending = match (ending, self.words(&call.row.tool).judged(&call.verdict)) {
            (Some(ending), _) if self.keeps_reason(ending) => ending.clone(),
            (_, Err(refusal)) if self.keeps_reason(&refusal) => *refusal,
            _ => self.words(&call.row.tool).commit_failed(&fault.0),
        };
        let ending = self.stamp(&call.row, ending);
        self.note_unclosed(&call.row, &ending, false);
        ending
    }

    /// Returns whether a reply says why the call itself ended, although its row is not closed. A call that failed or was refused has no
    /// effects, so its own reason is more accurate. Where an engine across a network may have lost the row for good, a refusal would
    /// claim that the log has the call; a failure claims nothing.
    pub(super) fn keeps_reason(&self, ending: &Ending) -> bool {
        let claims =
            matches!(ending.outcome, RowOutcome::DomainError | RowOutcome::Denied | RowOutcome::Invalid);
        ending.failed() && !(claims && self.store.postpones())
    }

    /// Ends a call whose exit row was refused and whose effects are rolled back. Never masks a handler's own failure.
    fn exit_failed(&mut self, call: &Entered, ending: Ending, fault: &StoreFault) -> Ending {
        self.log(Level::Error, format_args!("[audit] exit of {} failed: {fault}", call.row.tool));
        let ending = match self.keeps_reason(&ending) {
            true => ending,
            false => self.stamp(&call.row, self.words(&call.row.tool).commit_failed(&fault.0)),
        };
        self.note_unclosed(&call.row, &ending, false);
        ending
    }
}
