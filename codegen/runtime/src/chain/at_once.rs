//! Stages 3 to 5 of a batch in which no call works in the store: refused calls and free tools.
//!
//! Both halves of their rows are written in one transaction. There is nothing that an enter row on its own would tell: when
//! the process dies meanwhile, no effect of theirs is left in the store or elsewhere.

use std::collections::VecDeque;

use crate::chain::call::Outlet;
use crate::chain::check::Verdict;
use crate::chain::ending::Ending;
use crate::chain::row::Entered;
use crate::chain::store::{Access, Store, StoreFault};
use crate::chain::{Chain, LONGEST_EXIT_TRANSACTION_MS};
use crate::handler::Dispatch;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Whether one transaction is enough for a batch.
    pub(super) fn fits_at_once(&self, entered: &VecDeque<Entered>) -> bool {
        self.fatal.is_none() && !entered.iter().any(Entered::works_in_store)
    }

    /// Runs such a batch. The calls that had no time go on like any other: their enter rows are committed.
    pub(super) fn run_at_once(&mut self, mut waiting: VecDeque<Entered>, outlet: &mut dyn Outlet) {
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

    /// Opens a transaction and writes the enter rows of a batch, after what earlier calls left open.
    pub(super) fn enter_open<'a>(
        &mut self,
        entered: impl Iterator<Item = &'a mut Entered>,
    ) -> Result<(), StoreFault> {
        self.store.begin(Access::Write)?;
        self.close_unclosed()?;
        for call in entered {
            call.row.sequence_no = Some(self.store.audit_enter(&Self::enter_event(call))?);
        }
        Ok(())
    }

    /// Commits what [`Chain::enter_open`] began.
    pub(super) fn commit_entered(&mut self) -> Result<(), StoreFault> {
        self.store.commit()?;
        self.forget_closed();
        Ok(())
    }
}
