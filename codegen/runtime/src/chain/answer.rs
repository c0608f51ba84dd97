//! The end of a turn to write: what was committed is made durable, and the replies leave.

use std::collections::VecDeque;

use serde_json::json;

use crate::chain::Chain;
use crate::chain::call::{Outlet, Reply};
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::row::Entered;
use crate::chain::store::{Store, StoreFault};
use crate::handler::{Dispatch, Notice};
use crate::spec::fill;

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

    /// Returns what a reply says beside its result: the call's notices, and which arguments held a secret of the server's, so that the
    /// caller does not take the mark in its place for what was sent. `None` if there is nothing to say.
    fn notice(&self, redacted: &[String], mut notices: Vec<Notice>) -> Option<String> {
        if let Some(role) = self.spec.codes.arguments_redacted.filter(|_| !redacted.is_empty()) {
            let message = fill(role.message, &[("arguments", &redacted.join(", "))]);
            notices.insert(0, Notice { code: role.code, message });
        }
        let warnings = notices.iter().map(|notice| json!({ "code": notice.code, "message": notice.message }));
        (!notices.is_empty()).then(|| json!({ "warnings": warnings.collect::<Vec<_>>() }).to_string())
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
            let notice = self.notice(&call.redacted, ending.notices);
            match ending.answer {
                Some(answer) => outlet.reply(Reply { to: call.reply_to, answer, notice }),
                None => outlet.unanswered(&call.reply_to),
            }
        }
    }
}
