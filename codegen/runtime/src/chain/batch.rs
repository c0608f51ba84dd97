//! Stages 3 to 5 of a batch, against the store's own audit table (chain#two-transactions), in the order in which they run.
//!
//! One transaction holds the batch's enter rows ([`super::enter`]); a second one holds, call by call, a savepoint with the
//! handler's effects and the exit row together ([`super::effects`]). Replies leave after the second commit is synced
//! ([`super::answer`]).

use std::collections::VecDeque;
use std::task::{Context as TaskContext, Waker};

use crate::chain::call::Outlet;
use crate::chain::check::Verdict;
use crate::chain::effects::Step;
use crate::chain::ending::Ending;
use crate::chain::network::Flight;
use crate::chain::row::{Entered, Row};
use crate::chain::store::{Access, Store, StoreFault};
use crate::chain::{Chain, LONGEST_EXIT_TRANSACTION_MS};
use crate::handler::Dispatch;
use crate::spec::Runs;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Runs stages 3 to 5. Calls that do not fit into the turn to write wait for [`Chain::resume`].
    pub(super) fn run_batch(&mut self, mut calls: VecDeque<Entered>, outlet: &mut dyn Outlet) -> Vec<Flight> {
        if self.fatal.is_some() {
            // Nothing is begun after a failed sync: the calls end with its reason.
            self.rest = calls;
            self.resume(outlet);
            return Vec::new();
        }
        if calls.iter().all(Entered::runs_unentered) {
            self.run_rows_only(calls, outlet);
            return Vec::new();
        }
        if let Err(fault) = self.enter(&mut rows(&mut calls)) {
            self.refuse(calls, &fault, outlet);
            return Vec::new();
        }
        let flights = self.start_flights(&mut calls);
        self.rest = calls;
        if !flights.is_empty() {
            // What a network tool does outside cannot be undone: its enter row is on disk first.
            self.store.leave_queue();
            self.sync();
        } else if self.still_has_turn() {
            self.resume(outlet);
        }
        flights
    }

    /// Runs a batch in which no call changes anything outside of its row: refused calls and free tools that only answer. One
    /// transaction holds both halves of their rows. An enter row on its own would add nothing: if it fails, or the process dies
    /// meanwhile, the calls leave no effect.
    fn run_rows_only(&mut self, mut waiting: VecDeque<Entered>, outlet: &mut dyn Outlet) {
        let mut ended = Vec::with_capacity(waiting.len());
        match self.write_rows(&mut waiting, &mut ended) {
            // The enter rows of calls that had no time are committed.
            Ok(()) => self.end_turn(ended, waiting, outlet),
            Err(fault) => {
                self.lose_transaction();
                let calls = ended.into_iter().map(|(call, _)| call).chain(waiting).collect();
                self.refuse(calls, &fault, outlet);
            }
        }
    }

    /// Runs as many calls as fit into one transaction, and writes the rows of all. Calls move from `waiting` to `ended` as
    /// they run.
    fn write_rows(
        &mut self,
        waiting: &mut VecDeque<Entered>,
        ended: &mut Vec<(Entered, Ending)>,
    ) -> Result<(), StoreFault> {
        self.begin_entering(&mut rows(&mut *waiting))?;
        let began = self.kernel.clock.monotonic_ms();
        let mut undone = false;
        while let Some(call) = waiting.pop_front() {
            let ending = self.stage_dispatch(&call);
            undone |= call.is_open() && (ending.failed() || self.is_rehearsal());
            let ending = self.stamp(&call.row, ending);
            ended.push((call, ending));
            if self.kernel.clock.monotonic_ms() - began >= LONGEST_EXIT_TRANSACTION_MS {
                break;
            }
        }
        if undone {
            // Nothing of a failed call stays, not even what its handler should not have begun. The rows are written anew.
            self.lose_transaction();
            self.begin_entering(&mut rows(ended.iter_mut().map(|(call, _)| call).chain(waiting)))?;
        }
        for (call, ending) in ended {
            call.row.close_in(&mut self.store, ending)?;
        }
        self.commit_entered()
    }

    /// Takes the network calls, which start now, out of the batch.
    fn start_flights(&mut self, calls: &mut VecDeque<Entered>) -> Vec<Flight> {
        let mut flights = Vec::new();
        for call in std::mem::take(calls) {
            match call.verdict {
                Verdict::Open(target) if matches!(target.tool.runs, Runs::Network { .. }) => {
                    flights.push(self.start_flight(call, target));
                }
                _ => calls.push_back(call),
            }
        }
        flights
    }

    /// Returns whether the store can be written to without waiting. Another program may write between two transactions.
    fn still_has_turn(&mut self) -> bool {
        self.store.poll_turn(&mut TaskContext::from_waker(Waker::noop())).is_ready()
    }

    /// Returns whether calls are entered but have not run because their turn to write was over.
    pub(crate) fn has_rest(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Runs stages 4 and 5 of as many entered calls as fit into one transaction, which uses the turn to write. A transaction
    /// that has been open for long is committed, synced and answered before the next, because other processes wait meanwhile.
    pub(crate) fn resume(&mut self, outlet: &mut dyn Outlet) {
        let mut waiting = std::mem::take(&mut self.rest);
        let ended = match self.begin(Access::Write) {
            Ok(()) => self.effects(&mut waiting),
            Err(fault) => paired(waiting.drain(..), |call| self.uncommitted(call, None, &fault)),
        };
        self.end_turn(ended, waiting, outlet);
    }

    /// Runs as many calls as fit into the open transaction, and commits it.
    fn effects(&mut self, waiting: &mut VecDeque<Entered>) -> Vec<(Entered, Ending)> {
        let mut ended = Vec::with_capacity(waiting.len());
        let began = self.kernel.clock.monotonic_ms();
        while let Some(call) = waiting.pop_front() {
            match self.effects_of(&call, false) {
                Step::Done(ending) => ended.push((call, ending)),
                Step::Lost(_) => {
                    self.lose_transaction();
                    let ran = ended.into_iter().map(|(call, _)| call);
                    let again = ran.chain([call]).chain(waiting.drain(..));
                    return paired(again, |call| self.effects_alone(call));
                }
            }
            if self.kernel.clock.monotonic_ms() - began >= LONGEST_EXIT_TRANSACTION_MS {
                break;
            }
        }
        let postpones = self.store.postpones();
        let committing = if postpones { self.kernel.clock.monotonic_ms() } else { 0.0 };
        let committed = self.commit();
        if postpones {
            self.commit_ms = self.kernel.clock.monotonic_ms() - committing;
        }
        if let Err(fault) = committed {
            self.lose_transaction();
            if postpones {
                return paired(ended.into_iter().map(|(call, _)| call), |call| self.effects_alone(call));
            }
            for (call, ending) in &mut ended {
                *ending = self.uncommitted(call, Some(ending), &fault);
            }
        }
        ended
    }
}

fn rows<'a>(calls: impl IntoIterator<Item = &'a mut Entered>) -> Vec<&'a mut Row> {
    calls.into_iter().map(|call| &mut call.row).collect()
}

/// Ends each call, and keeps its ending beside it.
fn paired(
    calls: impl Iterator<Item = Entered>,
    mut end: impl FnMut(&Entered) -> Ending,
) -> Vec<(Entered, Ending)> {
    let ended = calls.map(|call| {
        let ending = end(&call);
        (call, ending)
    });
    ended.collect()
}
