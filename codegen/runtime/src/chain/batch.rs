//! Stages 3 to 5 for a batch, against the store's own audit table (chain#two-transactions).
//!
//! One transaction holds the batch's enter rows ([`super::enter`]); a second one holds, call by call, a savepoint with the
//! handler's effects and the exit row together ([`super::effects`]). Replies leave after the second commit is synced
//! ([`super::answer`]).
//!
//! A batch in which no call works in the store (refused calls and free tools) needs one transaction only. Both halves of its
//! rows are written in it. There is nothing that an enter row on its own would tell: when the process dies meanwhile, no
//! effect of theirs is left in the store or elsewhere.

use std::collections::VecDeque;
use std::task::{Context as TaskContext, Waker};

use crate::chain::call::Outlet;
use crate::chain::check::Verdict;
use crate::chain::effects::Step;
use crate::chain::ending::Ending;
use crate::chain::network::Flight;
use crate::chain::row::Entered;
use crate::chain::store::{Access, Store, StoreFault};
use crate::chain::{Chain, LONGEST_EXIT_TRANSACTION_MS};
use crate::handler::Dispatch;
use crate::spec::Runs;

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

    /// Whether one transaction is enough for a batch.
    fn fits_at_once(&self, entered: &VecDeque<Entered>) -> bool {
        self.fatal.is_none() && !entered.iter().any(Entered::works_in_store)
    }

    /// Runs such a batch. The calls that had no time go on like any other: their enter rows are committed.
    fn run_at_once(&mut self, mut waiting: VecDeque<Entered>, outlet: &mut dyn Outlet) {
        let mut ended: Vec<(Entered, Ending)> = Vec::with_capacity(waiting.len());
        if let Err(fault) = self.enter_and_exit(&mut waiting, &mut ended) {
            // No row tells of any of them. What has run left nothing in the store, and is answered like what could not be entered.
            ended.drain(..).rev().for_each(|(call, _)| waiting.push_front(call));
            self.refuse_all(&mut waiting, &fault);
            self.dispatch.rolled_back();
            return self.answer_refused(waiting, outlet);
        }
        self.store.leave_queue();
        self.sync();
        self.send(&mut ended, outlet);
        self.rest = waiting;
    }

    /// The transaction. Calls move from `waiting` to `ended` as they run.
    fn enter_and_exit(
        &mut self,
        waiting: &mut VecDeque<Entered>,
        ended: &mut Vec<(Entered, Ending)>,
    ) -> Result<(), StoreFault> {
        self.enter_open(waiting.iter_mut())?;
        let began = self.kernel.clock.monotonic_ms();
        let mut taken_back = false;
        while let Some(call) = waiting.pop_front() {
            let ending = self.stage_dispatch(&call);
            taken_back |=
                matches!(call.verdict, Verdict::Open(_)) && (ending.failed() || self.is_rehearsal(&call));
            let ending = self.stamp(&call, ending);
            ended.push((call, ending));
            if self.kernel.clock.monotonic_ms() - began >= LONGEST_EXIT_TRANSACTION_MS {
                break;
            }
        }
        if taken_back {
            // Nothing of a failed call stays, not even what its handler should not have begun. The rows are written anew.
            self.lose_transaction();
            self.enter_open(ended.iter_mut().map(|(call, _)| call).chain(waiting))?;
        }
        for (call, ending) in ended {
            (call.row.sequence_no)
                .map_or(Ok(()), |sequence_no| call.row.close_in(&mut self.store, sequence_no, ending))?;
        }
        self.commit_entered()
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

    /// Returns whether the store can be written to without waiting. Another program may write between two transactions.
    fn still_has_turn(&mut self) -> bool {
        self.store.poll_turn(&mut TaskContext::from_waker(Waker::noop())).is_ready()
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
}
