//! Stages 4 and 5 of one call: the handler's effects and the exit row in one savepoint.

use crate::chain::Chain;
use crate::chain::check::Verdict;
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::row::Entered;
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
    /// Runs stages 4 and 5 of one call in a savepoint of the open transaction.
    pub(super) fn effects_of(&mut self, call: &Entered) -> Step {
        if self.store.savepoint().is_err() {
            return Step::Lost(None);
        }
        let ending = self.stage_dispatch(call);
        if !self.store.in_transaction() {
            return Step::Lost(Some(ending));
        }
        if ending.failed() || self.is_rehearsal(call) {
            self.dispatch.rolled_back();
            if self.store.roll_back_to_savepoint().is_err() {
                return Step::Lost(Some(ending));
            }
        }
        let ending = self.stamp(call, ending);
        match self.stage_audit_exit(call, ending) {
            Ok(ending) if self.store.release().is_ok() => Step::Done(ending),
            Ok(ending) => Step::Lost(Some(ending)),
            Err(ending) => Step::Lost(Some(*ending)),
        }
    }

    /// Returns whether the call that has just succeeded asked that none of its effects stay.
    pub(super) fn is_rehearsal(&mut self, call: &Entered) -> bool {
        matches!(call.verdict, Verdict::Open(_)) && self.store.cx().is_rehearsal()
    }

    /// Runs stage 5: writes the exit row in the savepoint that holds the effects. If the transaction is lost, fails with
    /// the handler's result.
    fn stage_audit_exit(&mut self, call: &Entered, ending: Ending) -> Result<Ending, Box<Ending>> {
        // Without an enter row there is nothing to close.
        let Some(sequence_no) = call.row.sequence_no else { return Ok(ending) };
        let Err(fault) = call.row.close_in(&mut self.store, sequence_no, &ending) else {
            return Ok(ending);
        };
        if !self.store.in_transaction() || self.store.roll_back_to_savepoint().is_err() {
            return Err(Box::new(ending));
        }
        self.dispatch.rolled_back();
        Ok(self.exit_failed(call, ending, &fault))
    }

    /// Runs stages 4 and 5 of one call in a transaction of its own, because the batch's was lost.
    pub(super) fn effects_alone(&mut self, call: Entered) -> (Entered, Ending) {
        // Its ending in the lost transaction no longer counts. It may end otherwise now, and the row must match
        // the reply.
        self.forget_unclosed(&call.row);
        if let Err(fault) = self.store.begin(Access::Write) {
            return self.uncommitted(call, None, &fault);
        }
        match self.effects_of(&call) {
            Step::Done(ending) => match self.store.commit() {
                Ok(()) => (call, ending),
                Err(fault) => {
                    self.lose_transaction();
                    self.uncommitted(call, Some(ending), &fault)
                }
            },
            Step::Lost(Some(ending)) if ending.failed() => {
                self.lose_transaction();
                let ending = self.stamp(&call, ending);
                let ending = self.close_alone(&call, ending);
                (call, ending)
            }
            Step::Lost(_) => {
                self.lose_transaction();
                self.uncommitted(call, None, &StoreFault("the store rolled the transaction back".to_owned()))
            }
        }
    }

    /// Writes an exit row for a call whose effects are gone already.
    fn close_alone(&mut self, call: &Entered, ending: Ending) -> Ending {
        let Some(sequence_no) = call.row.sequence_no else { return ending };
        let stored = self
            .store
            .begin(Access::Write)
            .and_then(|()| call.row.close_in(&mut self.store, sequence_no, &ending))
            .and_then(|()| self.store.commit());
        match stored {
            Ok(()) => ending,
            Err(fault) => {
                self.store.roll_back();
                self.exit_failed(call, ending, &fault)
            }
        }
    }

    /// Ends a call of which nothing is stored: the reply says so, and the row is closed when the store takes it.
    pub(super) fn uncommitted(
        &mut self,
        call: Entered,
        ending: Option<Ending>,
        fault: &StoreFault,
    ) -> (Entered, Ending) {
        self.log(Level::Error, format_args!("[audit] {} could not be committed: {fault}", call.row.tool));
        // A call that failed or was refused has no effects, so its own reason is more accurate.
        let ending = ending
            .filter(Ending::failed)
            .or_else(|| self.words().judged(&call.verdict).err().map(|refusal| *refusal))
            .unwrap_or_else(|| self.words().commit_failed(&fault.0));
        let ending = self.stamp(&call, ending);
        self.note_unclosed(&call, &ending, false);
        (call, ending)
    }

    /// Ends a call whose exit row was refused and whose effects are rolled back. Never masks a handler's own failure.
    fn exit_failed(&mut self, call: &Entered, ending: Ending, fault: &StoreFault) -> Ending {
        self.log(Level::Error, format_args!("[audit] exit of {} failed: {fault}", call.row.tool));
        let ending = if ending.failed() {
            ending
        } else {
            let failed = self.words().commit_failed(&fault.0);
            self.stamp(call, failed)
        };
        self.note_unclosed(call, &ending, false);
        ending
    }

    pub(super) fn lose_transaction(&mut self) {
        self.store.roll_back();
        self.dispatch.rolled_back();
    }
}
