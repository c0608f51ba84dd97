//! The end of a turn to write: what was committed is made durable, and the replies leave.

use std::collections::VecDeque;

use crate::chain::Chain;
use crate::chain::call::{Outlet, Reply};
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::row::Entered;
use crate::chain::store::{Store, StoreFault};
use crate::handler::Dispatch;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Leaves the queue, syncs, and answers the calls that have ended. The others wait for [`Chain::resume`].
    pub(super) fn end_turn(
        &mut self,
        ended: Vec<(Entered, Ending)>,
        waiting: VecDeque<Entered>,
        outlet: &mut dyn Outlet,
    ) {
        self.store.leave_queue();
        self.sync();
        self.send(ended, outlet);
        if !waiting.is_empty() {
            outlet.flush();
        }
        self.rest = waiting;
    }

    /// Ends a turn in which stage 3 failed.
    pub(super) fn refuse(
        &mut self,
        mut calls: VecDeque<Entered>,
        fault: &StoreFault,
        outlet: &mut dyn Outlet,
    ) {
        self.mark_not_entered(&mut calls, &fault.0);
        let ended = calls.into_iter().filter_map(|call| {
            let ending = self.words(&call.row.tool).judged(&call.verdict).err()?;
            let ending = self.stamp(&call.row, *ending);
            Some((call, ending))
        });
        let ended = ended.collect();
        self.end_turn(ended, VecDeque::new(), outlet);
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
            self.fatal = Some(fault);
        }
        self.sync_ms = std::mem::take(&mut self.commit_ms) + self.kernel.clock.monotonic_ms() - began;
    }

    /// Hands over the replies of ended calls.
    pub(super) fn send(
        &mut self,
        ended: impl IntoIterator<Item = (Entered, Ending)>,
        outlet: &mut dyn Outlet,
    ) {
        for (call, ending) in ended {
            let ending = match &self.fatal {
                Some(reason) if !self.keeps_reason(&ending) => {
                    self.words(&call.row.tool).commit_failed(&reason.0)
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
