//! A batch between stage 2 and its turn to write. Work done here does not make other processes wait.

use std::collections::VecDeque;

use crate::chain::Chain;
use crate::chain::call::{Outlet, ReplyTo};
use crate::chain::check::Checked;
use crate::chain::ending::Ending;
use crate::chain::row::Entered;
use crate::chain::store::Store;
use crate::handler::Dispatch;

/// Calls that have passed stages 1 and 2.
pub(crate) struct Prepared(pub(super) Calls);

pub(super) enum Calls {
    /// They share their transactions, and have their ids and times already.
    Together(VecDeque<Entered>),
    /// They go through one by one, for a sink outside the store.
    Singly(Vec<Checked>),
}

impl Prepared {
    /// Returns whether no call is left.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Calls::Together(calls) => calls.is_empty(),
            Calls::Singly(calls) => calls.is_empty(),
        }
    }

    /// Drops the calls with that request id, and returns the requests they would have answered.
    pub fn remove(&mut self, request_id: &str) -> Vec<ReplyTo> {
        let mut dropped = Vec::new();
        let mut stays = |to: &ReplyTo| {
            let stays = &*to.id != request_id;
            if !stays {
                dropped.push(to.clone());
            }
            stays
        };
        match &mut self.0 {
            Calls::Together(calls) => calls.retain(|call| stays(&call.reply_to)),
            Calls::Singly(calls) => calls.retain(|checked| stays(&checked.call.reply_to)),
        }
        dropped
    }

    /// Drops all calls, and returns the requests they would have answered.
    pub(crate) fn drop_all(self) -> Vec<ReplyTo> {
        match self.0 {
            Calls::Together(calls) => calls.into_iter().map(|call| call.reply_to).collect(),
            Calls::Singly(calls) => calls.into_iter().map(|checked| checked.call.reply_to).collect(),
        }
    }
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    pub(super) fn past_check(&mut self, checked: Vec<Checked>) -> Prepared {
        Prepared(match self.audit.is_store() {
            true => Calls::Together(checked.into_iter().map(|checked| self.enter_row(checked)).collect()),
            false => Calls::Singly(checked),
        })
    }

    /// Returns how many calls may share a batch: a sink outside the store gets a turn to write for each call.
    pub(crate) fn most_calls(&self, most: usize) -> usize {
        if self.audit.is_sink() { 1 } else { most }
    }

    /// Answers the calls of a batch that change nothing, although the store cannot be written to: refused calls
    /// and free tools that only answer. Keeps their rows for the next turn, as many as [`Chain::may_answer_early`] allows.
    pub(crate) fn answer_without_store(&mut self, batch: &mut Prepared, outlet: &mut dyn Outlet) {
        let Calls::Together(calls) = &mut batch.0 else { return };
        let mut ended: Vec<(Entered, Ending)> = Vec::new();
        for call in std::mem::take(calls) {
            if !call.runs_unentered() || !self.may_answer_early() {
                calls.push_back(call);
                continue;
            }
            let ending = self.stage_dispatch(&call);
            let ending = self.stamp(&call.row, ending);
            self.buffer(&call, &ending);
            ended.push((call, ending));
        }
        self.send(ended, outlet);
    }
}
