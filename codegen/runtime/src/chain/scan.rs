//! Long reads: a batch of their own, in a helper thread on a read transaction of its own (design §3).
//! They hold the tool lock, so no store tool runs meanwhile, but never the write queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tokio::sync::oneshot;

use crate::chain::audit::SinkResult;
use crate::chain::call::{Call, Outlet};
use crate::chain::check::Verdict;
use crate::chain::dispatch::PANICKED;
use crate::chain::ending::Ending;
use crate::chain::row::Entered;
use crate::chain::store::{Access, Store, StoreFault};
use crate::chain::{Audit, Chain};
use crate::handler::{Dispatch, Dispatched, guarded};

/// Tells a long-running scan that it may stop early (shutdown). Checked between pages of rows.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the scan to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A scan in its helper thread.
pub struct ScanFlight {
    call: Entered,
    /// The thread's result.
    pub done: oneshot::Receiver<std::thread::Result<Dispatched>>,
    /// Stops it early.
    pub interrupt: Interrupt,
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Stages 1 to 3 of a scan call, and the start of its thread. `None` when it ended before.
    pub async fn start_scan(&mut self, call: Call, outlet: &mut dyn Outlet) -> Option<ScanFlight> {
        let checked = self.check(call);
        let mut call = self.enter_row(checked);
        self.enter_alone(&mut call).await;
        let ending = match self.words().refused(call.tool, &call.verdict) {
            Some(refusal) => refusal,
            None => match self.spawn_scan(&mut call) {
                Ok((done, interrupt)) => return Some(ScanFlight { call, done, interrupt }),
                Err(fault) => {
                    self.words().handler_error(&format!("{}: {fault}", self.spec.codes.storage_failure))
                }
            },
        };
        self.close_flight(call, ending, outlet).await;
        None
    }

    /// Stage 5 of a scan call.
    pub async fn land_scan(
        &mut self,
        scan: ScanFlight,
        result: std::thread::Result<Dispatched>,
        outlet: &mut dyn Outlet,
    ) {
        let ending: Ending = match scan.call.tool {
            Some(tool) => {
                let dispatched = self.settle(tool, result);
                self.words().dispatched(tool, dispatched)
            }
            None => self.words().handler_error("the call has no tool"),
        };
        self.close_flight(scan.call, ending, outlet).await;
    }

    async fn enter_alone(&mut self, call: &mut Entered) {
        let entered = match &mut self.audit {
            Audit::Store { .. } => self.enter_one(call).map_err(|fault| fault.0),
            Audit::Sink(sink) => match sink.enter(&Self::enter_event(call)) {
                SinkResult::Ready(result) => result,
                SinkResult::Pending(future) => future.await,
            },
            Audit::Buffer => Ok(()),
        };
        if let Err(reason) = entered {
            self.store.roll_back();
            if matches!(call.verdict, Verdict::Open) {
                call.verdict = Verdict::AuditFailed(reason);
            }
        }
        self.store.leave_queue();
    }

    fn enter_one(&mut self, call: &mut Entered) -> Result<(), StoreFault> {
        self.store.begin(Access::Write)?;
        self.close_unclosed()?;
        let sequence_no = self.store.audit_enter(&Self::enter_event(call))?;
        self.store.commit()?;
        self.forget_closed();
        call.row.sequence_no = Some(sequence_no);
        Ok(())
    }

    #[allow(clippy::type_complexity)]
    fn spawn_scan(
        &mut self,
        call: &mut Entered,
    ) -> Result<(oneshot::Receiver<std::thread::Result<Dispatched>>, Interrupt), StoreFault> {
        let mut cx = self.store.scan_cx()?;
        let arguments = std::mem::replace(&mut call.arguments, Value::Null);
        let work = self.dispatch.scan(call.index, arguments);
        let (sender, done) = oneshot::channel();
        let interrupt = Interrupt::default();
        let stop = interrupt.clone();
        std::thread::Builder::new()
            .name("scan".to_owned())
            .spawn(move || {
                let result = guarded(|| work(&mut cx, &stop));
                // The read transaction ends before the call does.
                drop(cx);
                // Nobody listens any more only when the process is on its way out.
                let _ = sender.send(result);
            })
            .map_err(|error| StoreFault(format!("no helper thread: {error}")))?;
        Ok((done, interrupt))
    }
}

/// What a scan whose thread vanished without a result is answered with.
pub fn vanished() -> std::thread::Result<Dispatched> {
    Ok(Dispatched::Fault(crate::handler::Fault::Other(PANICKED.to_owned())))
}
