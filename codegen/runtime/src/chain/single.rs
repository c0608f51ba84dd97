//! Stages 3 to 5 one call at a time, where the log is outside the store's transaction (chain#audit-sinks): enter, dispatch,
//! exit, next call. That is so in READONLY and MINIMAL, before the gate opens, and in programs that inject a sink. Calls that
//! run beside the loop are entered and closed here with any log.

use crate::chain::call::Outlet;
use crate::chain::check::{Checked, Verdict};
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::network::Flight;
use crate::chain::row::Entered;
use crate::chain::store::Store;
use crate::chain::{Audit, Chain};
use crate::handler::Dispatch;
use crate::spec::Runs;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    pub(super) async fn run_singly(&mut self, checked: Vec<Checked>, outlet: &mut dyn Outlet) -> Vec<Flight> {
        let mut flights = Vec::new();
        for checked in checked {
            let mut call = self.enter_row(checked);
            self.enter_call(&mut call).await;
            match call.verdict {
                Verdict::Open(target) if matches!(target.tool.runs, Runs::Network { .. }) => {
                    self.store.leave_queue();
                    flights.push(self.start_flight(call, target));
                }
                _ => {
                    let ending = self.effects_outside(&call);
                    self.close_call(call, ending, outlet).await;
                }
            }
        }
        flights
    }

    /// Runs stage 3 of one call. It keeps the turn to write.
    pub(super) async fn enter_call(&mut self, call: &mut Entered) {
        let entered = match &mut self.audit {
            Audit::Store { .. } => self.enter(&mut [&mut call.row]).map_err(|fault| fault.0),
            // The buffer takes the call when it has ended.
            Audit::Buffer => Ok(()),
            Audit::Sink(sink) => sink.enter(&call.enter_event()).finished().await,
        };
        if let Err(reason) = entered {
            self.mark_not_entered([call], &reason);
        }
    }

    /// Runs stage 4 in a transaction of its own, without an exit row.
    fn effects_outside(&mut self, call: &Entered) -> Ending {
        if !call.works_in_store() {
            self.store.leave_queue();
            return self.stage_dispatch(call);
        }
        let ending = match self.begin(self.access) {
            Ok(()) => self.effects_committed(call),
            Err(fault) => self.words(&call.row.tool).commit_failed(&fault.0),
        };
        self.store.leave_queue();
        self.sync();
        ending
    }

    fn effects_committed(&mut self, call: &Entered) -> Ending {
        let ending = self.stage_dispatch(call);
        if ending.failed() || self.is_rehearsal() {
            self.lose_transaction();
            return ending;
        }
        match self.commit() {
            Ok(()) => ending,
            Err(fault) => {
                self.lose_transaction();
                self.words(&call.row.tool).commit_failed(&fault.0)
            }
        }
    }

    /// Runs stage 5 of one call, and replies.
    pub(super) async fn close_call(&mut self, call: Entered, ending: Ending, outlet: &mut dyn Outlet) {
        let mut ending = self.stamp(&call.row, ending);
        match &mut self.audit {
            Audit::Store { .. } => {
                if let Some(truer) = self.close_row(&call, &ending) {
                    // A call that was cancelled stays unanswered.
                    ending = Ending { answer: truer.answer.filter(|_| ending.answer.is_some()), ..truer };
                }
            }
            Audit::Buffer => self.buffer(&call, &ending),
            Audit::Sink(sink) => {
                // A failure of a sink outside the store never changes the reply.
                if let Err(reason) = sink.exit(&ending.exit_event(&call.row)).finished().await {
                    self.exit_failures += 1;
                    self.log(
                        Level::Error,
                        format_args!("[audit] exit of {} failed: {reason}", call.row.tool),
                    );
                }
            }
        }
        self.send([(call, ending)], outlet);
    }

    /// Writes the exit row of a call that ran beside the loop, in a transaction of its own. The outside effect has
    /// happened, so a row that cannot be written is kept for later. A row stays as it is if another start, which took this
    /// process for dead, has closed it; then the ending that says so is returned for the reply.
    fn close_row(&mut self, call: &Entered, ending: &Ending) -> Option<Ending> {
        let Some(sequence_no) = call.row.sequence_no else {
            self.store.leave_queue();
            return None;
        };
        // After a failed sync the chain begins nothing, and the client gets a failure: the next start closes the row.
        if self.fatal.is_some() {
            return None;
        }
        let mut truer = None;
        if let Err(fault) = self.write_exit(&call.row, ending) {
            // Where the outcome of a commit is known, a row that is closed now was closed by another start.
            let is_known = self.store.in_transaction() || self.store.postpones();
            let is_closed = is_known && matches!(self.store.audit_is_open(sequence_no), Ok(false));
            self.roll_back();
            if is_closed {
                self.log(Level::Error, format_args!("[audit] {} was closed by another start", call.row.tool));
                let ending = self.words(&call.row.tool).closed_by_another();
                truer = Some(self.stamp(&call.row, ending));
            } else {
                self.log(Level::Error, format_args!("[audit] exit of {} is pending: {fault}", call.row.tool));
                self.note_unclosed(&call.row, ending, true);
            }
        }
        self.store.leave_queue();
        self.sync();
        truer
    }
}
