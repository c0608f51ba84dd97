//! Stages 3 to 5 for a batch, against the store's own audit table (chain#two-transactions).
//!
//! One transaction holds the batch's enter rows; a second one holds, call by call, a savepoint with the
//! handler's effects and the exit row together. Replies leave after the second commit is synced. A batch without effects needs
//! one transaction only ([`super::at_once`]).

use std::collections::VecDeque;
use std::task::{Context as TaskContext, Waker};

use crate::chain::call::{Outlet, Reply};
use crate::chain::check::Verdict;
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::network::Flight;
use crate::chain::row::{Entered, Row};
use crate::chain::store::{Access, Store, StoreFault};
use crate::chain::{Chain, LONGEST_EXIT_TRANSACTION_MS, Unclosed};
use crate::handler::{Context, Dispatch};
use crate::spec::Runs;

/// How one call left the open transaction.
enum Step {
    /// Its savepoint is released; the row is closed, or noted as unclosed.
    Done(Ending),
    /// The engine has rolled the whole transaction back. Carries the handler's result.
    Lost(Option<Ending>),
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Runs stages 3 to 5, readable in one piece. Calls that do not fit into the turn to write wait for
    /// [`Chain::resume`].
    pub(super) fn run_batch(
        &mut self,
        mut entered: VecDeque<Entered>,
        outlet: &mut dyn Outlet,
    ) -> Vec<Flight> {
        if self.fits_at_once(&entered) {
            self.run_at_once(entered, outlet);
            return Vec::new();
        }
        if let Err(reason) = self.enter_all(&mut entered) {
            self.refuse_all(&mut entered, &reason);
            self.answer_refused(entered, outlet);
            return Vec::new();
        }
        let flights = self.take_flights(&mut entered);
        self.rest = entered;
        if !flights.is_empty() {
            // What a network tool does outside cannot be undone: its enter row is on disk first.
            self.store.leave_queue();
            self.sync();
        } else if self.still_has_turn() {
            self.resume(outlet);
        }
        flights
    }

    /// Returns whether the store can be written to without waiting. Another program may write between two transactions.
    fn still_has_turn(&mut self) -> bool {
        self.store.poll_turn(&mut TaskContext::from_waker(Waker::noop())).is_ready()
    }

    /// Answers calls that could not be entered.
    pub(super) fn answer_refused(&mut self, refused: VecDeque<Entered>, outlet: &mut dyn Outlet) {
        self.store.leave_queue();
        self.sync();
        let mut ended = refused
            .into_iter()
            .filter_map(|call| {
                let ending = self.words().judged(&call.verdict).err()?;
                let ending = self.stamp(&call, *ending);
                Some((call, ending))
            })
            .collect();
        self.send(&mut ended, outlet);
    }

    /// Stage 3: one transaction for the enter rows of the batch, after what earlier calls left open.
    fn enter_all(&mut self, entered: &mut VecDeque<Entered>) -> Result<(), StoreFault> {
        self.enter_open(entered.iter_mut())?;
        self.commit_entered()
    }

    /// Refuses all calls because stage 3 failed: no call has a row, and none goes on.
    pub(super) fn refuse_all(&mut self, entered: &mut VecDeque<Entered>, reason: &StoreFault) {
        self.store.roll_back();
        self.log(Level::Error, format_args!("[audit] enter failed: {reason}"));
        for call in entered.iter_mut() {
            call.row.sequence_no = None;
            if matches!(call.verdict, Verdict::Open(_)) {
                call.verdict = Verdict::AuditFailed(reason.0.clone());
            }
        }
    }

    /// Closes rows whose exit could not be stored, in order, inside the open transaction. Once that is
    /// committed, [`Chain::forget_closed`] forgets them. A row that still refuses stops everything only if it
    /// is a network tool's.
    pub(super) fn close_unclosed(&mut self) -> Result<(), StoreFault> {
        for record in &mut self.unclosed {
            let Some(sequence_no) = record.row.sequence_no else { continue };
            self.store.savepoint()?;
            let closed = match record.row.close_in(&mut self.store, sequence_no, &record.ending) {
                Ok(()) => Ok(()),
                // The engine has rolled everything back, and its reason explains the failure.
                Err(fault) if !self.store.in_transaction() => return Err(fault),
                Err(fault) => {
                    self.store.roll_back_to_savepoint()?;
                    // A commit that was reported as failed may still have taken effect.
                    if self.store.audit_is_open(sequence_no)? { Err(fault) } else { Ok(()) }
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

    pub(super) fn forget_closed(&mut self) {
        self.unclosed.retain(|record| !record.closed);
    }

    /// Takes the network calls that may start out of the batch.
    fn take_flights(&mut self, entered: &mut VecDeque<Entered>) -> Vec<Flight> {
        let mut flights = Vec::new();
        for call in std::mem::take(entered) {
            match call.verdict {
                Verdict::Open(target) if target.tool.runs == Runs::Network => {
                    flights.push(self.start_flight(call, target));
                }
                _ => entered.push_back(call),
            }
        }
        flights
    }

    /// Returns whether calls are entered but have not run because their turn to write was over.
    pub fn has_rest(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Runs stages 4 and 5 of as many entered calls as fit into one transaction, which uses the turn to write. A transaction
    /// that has been open for long is committed, synced and answered before the next, because other processes wait meanwhile.
    pub fn resume(&mut self, outlet: &mut dyn Outlet) {
        let mut waiting = std::mem::take(&mut self.rest);
        let mut ended: Vec<(Entered, Ending)> = Vec::with_capacity(waiting.len());
        // After a failed sync the chain begins nothing more, because it could not be made durable.
        let begun = match &self.fatal {
            Some(reason) => Err(StoreFault(reason.clone())),
            None => self.store.begin(Access::Write),
        };
        match begun {
            Ok(()) => self.effects_in_transaction(&mut waiting, &mut ended),
            Err(fault) => ended.extend(waiting.drain(..).map(|call| self.uncommitted(call, None, &fault))),
        }
        self.store.leave_queue();
        self.sync();
        self.send(&mut ended, outlet);
        if !waiting.is_empty() {
            outlet.flush();
        }
        self.rest = waiting;
    }

    /// Runs as many calls as fit into the open transaction, and commits it.
    fn effects_in_transaction(
        &mut self,
        waiting: &mut VecDeque<Entered>,
        ended: &mut Vec<(Entered, Ending)>,
    ) {
        let began = self.kernel.clock.monotonic_ms();
        while let Some(call) = waiting.pop_front() {
            match self.effects_of(&call) {
                Step::Done(ending) => ended.push((call, ending)),
                Step::Lost(_) => {
                    self.lose_transaction();
                    let again: Vec<Entered> = ended
                        .drain(..)
                        .map(|(call, _)| call)
                        .chain([call])
                        .chain(waiting.drain(..))
                        .collect();
                    ended.extend(again.into_iter().map(|call| self.effects_alone(call)));
                    return;
                }
            }
            if self.kernel.clock.monotonic_ms() - began >= LONGEST_EXIT_TRANSACTION_MS {
                break;
            }
        }
        if let Err(fault) = self.store.commit() {
            self.lose_transaction();
            let uncommitted: Vec<_> =
                ended.drain(..).map(|(call, ending)| self.uncommitted(call, Some(ending), &fault)).collect();
            ended.extend(uncommitted);
        }
    }

    pub(super) fn lose_transaction(&mut self) {
        self.store.roll_back();
        self.dispatch.rolled_back();
    }

    /// Runs stages 4 and 5 of one call in a savepoint of the open transaction.
    fn effects_of(&mut self, call: &Entered) -> Step {
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
    fn effects_alone(&mut self, call: Entered) -> (Entered, Ending) {
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
    fn uncommitted(
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

    pub(super) fn note_unclosed(&mut self, call: &Entered, ending: &Ending, must_close: bool) {
        self.exit_failures += 1;
        self.forget_unclosed(&call.row);
        if call.row.sequence_no.is_some() {
            let ending = Ending { answer: None, result: None, ..ending.clone() };
            self.unclosed.push(Unclosed { row: call.row.clone(), ending, must_close, closed: false });
        }
    }

    /// Drops the note about a row from before its call ended anew.
    fn forget_unclosed(&mut self, row: &Row) {
        self.unclosed.retain(|record| record.row.sequence_no != row.sequence_no);
    }

    /// Makes what was committed durable. A failed sync is fatal and never retried: the kernel may have
    /// dropped the pages it could not write.
    pub(super) fn sync(&mut self) {
        if self.fatal.is_some() {
            return;
        }
        let began = self.kernel.clock.monotonic_ms();
        if let Err(fault) = self.store.sync() {
            self.log(
                Level::Error,
                format_args!("[colibri] fatal: nothing more can be acknowledged: {fault}"),
            );
            self.fatal = Some(fault.0);
        }
        self.sync_ms = self.kernel.clock.monotonic_ms() - began;
    }

    /// Hands over the replies of ended calls.
    pub(super) fn send(&mut self, ended: &mut Vec<(Entered, Ending)>, outlet: &mut dyn Outlet) {
        for (call, ending) in ended.drain(..) {
            let ending = match &self.fatal {
                Some(reason) if !ending.failed() => {
                    let reason = reason.clone();
                    self.words().commit_failed(&reason)
                }
                _ => ending,
            };
            self.log_exit(&call.row, &ending);
            match ending.answer {
                Some(answer) => outlet.reply(Reply { to: call.reply_to, answer }),
                None => outlet.unanswered(&call.reply_to),
            }
        }
    }
}
