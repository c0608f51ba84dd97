//! Stages 3 to 5 one call at a time, for sinks outside the store's transaction (P0.2.1 §5): enter,
//! dispatch, exit, next call.

use crate::chain::audit::SinkResult;
use crate::chain::call::Outlet;
use crate::chain::check::{Checked, Verdict};
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::network::Flight;
use crate::chain::row::Entered;
use crate::chain::store::Store;
use crate::chain::{Audit, Chain, Unclosed};
use crate::handler::Dispatch;
use crate::spec::Kind;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    pub(super) async fn run_singly(&mut self, checked: Vec<Checked>, outlet: &mut dyn Outlet) -> Vec<Flight> {
        let mut flights = Vec::new();
        for checked in checked {
            let mut call = self.enter_row(checked);
            self.sink_enter(&mut call).await;
            let open = matches!(call.verdict, Verdict::Open);
            if open && call.tool.is_some_and(|tool| tool.kind == Kind::Network) {
                flights.push(self.start_flight(call));
                continue;
            }
            let ending = if open { self.effects_outside(&call) } else { self.stage_dispatch(&call) };
            let ending = self.stamp(&call, ending);
            self.sink_exit(&call, &ending).await;
            self.send(&mut vec![(call, ending)], outlet);
        }
        flights
    }

    /// Stage 3 against the sink.
    async fn sink_enter(&mut self, call: &mut Entered) {
        let event = Self::enter_event(call);
        let Audit::Sink(sink) = &mut self.audit else { return };
        let entered = match sink.enter(&event) {
            SinkResult::Ready(result) => result,
            SinkResult::Pending(future) => future.await,
        };
        if let Err(reason) = entered {
            self.log(Level::Error, format_args!("[audit] enter failed: {reason}"));
            if matches!(call.verdict, Verdict::Open) {
                call.verdict = Verdict::AuditFailed(reason);
            }
        }
    }

    /// Stage 4 in a transaction of its own, without an exit row.
    fn effects_outside(&mut self, call: &Entered) -> Ending {
        if call.tool.is_some_and(|tool| tool.storeless) {
            return self.stage_dispatch(call);
        }
        if let Err(fault) = self.store.begin(self.access) {
            self.store.leave_queue();
            return self.words().commit_failed(&fault.0);
        }
        let ending = self.stage_dispatch(call);
        let ending = if ending.failed() {
            self.store.roll_back();
            self.dispatch.rolled_back();
            ending
        } else if let Err(fault) = self.store.commit() {
            self.store.roll_back();
            self.dispatch.rolled_back();
            self.words().commit_failed(&fault.0)
        } else {
            ending
        };
        self.store.leave_queue();
        self.sync();
        ending
    }

    /// Stage 5 against the sink; its failure never changes the reply.
    pub(super) async fn sink_exit(&mut self, call: &Entered, ending: &Ending) {
        match &mut self.audit {
            Audit::Buffer => {
                self.buffered.push(Unclosed {
                    row: call.row.clone(),
                    ending: ending.clone(),
                    must_close: false,
                    closed: false,
                });
            }
            Audit::Sink(sink) => {
                let exited = match sink.exit(&ending.exit_event(&call.row)) {
                    SinkResult::Ready(result) => result,
                    SinkResult::Pending(future) => future.await,
                };
                if let Err(reason) = exited {
                    self.exit_failures += 1;
                    self.log(
                        Level::Error,
                        format_args!("[audit] exit of {} failed: {reason}", call.row.tool),
                    );
                }
            }
            Audit::Store { .. } => {}
        }
    }
}
