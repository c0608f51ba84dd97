//! The end of a batch: what was committed is made durable, and the replies leave.

use std::collections::VecDeque;

use crate::chain::Chain;
use crate::chain::call::{Outlet, Reply};
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::row::Entered;
use crate::chain::store::Store;
use crate::handler::Dispatch;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
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
