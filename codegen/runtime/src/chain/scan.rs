//! Long reads: a batch of their own, in a helper thread on a read transaction of its own (chain#scan-tools).
//! They hold the tool lock, so no store tool runs meanwhile, but never the write queue.

use serde_json::Value;
use tokio::sync::oneshot;

use crate::chain::Chain;
use crate::chain::call::{Call, Outlet, ReplyTo};
use crate::chain::note::About;
use crate::chain::row::Entered;
use crate::chain::store::{Store, StoreFault};
use crate::handler::{Dispatch, Dispatched, guarded};
pub use crate::interrupt::Interrupt;
use crate::spec::ToolSpec;

/// A scan in its helper thread.
pub struct ScanFlight {
    call: Entered,
    tool: &'static ToolSpec,
    /// The thread's result.
    pub done: oneshot::Receiver<std::thread::Result<Dispatched>>,
    /// Stops it early.
    pub interrupt: Interrupt,
}

impl ScanFlight {
    /// Returns the request that it will answer.
    pub fn reply_to(&self) -> &ReplyTo {
        &self.call.reply_to
    }

    /// Returns the call, for notes.
    pub fn about(&self) -> Option<About> {
        About::of(&self.call.row)
    }
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Runs stages 1 to 3 of a scan call, and starts its thread. `None` if the call ended before.
    pub async fn start_scan(&mut self, call: Call, outlet: &mut dyn Outlet) -> Option<ScanFlight> {
        let checked = self.check(call);
        let mut call = self.enter_row(checked);
        self.enter_call(&mut call).await;
        let ending = match self.words(&call.row.tool).judged(&call.verdict) {
            Ok(target) => {
                self.store.leave_queue();
                match self.spawn_scan(&mut call, target.index) {
                    Ok((done, interrupt)) => {
                        return Some(ScanFlight { call, tool: target.tool, done, interrupt });
                    }
                    Err(fault) => self.words(&call.row.tool).storage_failure(&fault.0),
                }
            }
            Err(refusal) => *refusal,
        };
        self.close_call(call, ending, outlet).await;
        self.store.leave_queue();
        None
    }

    /// Runs stage 5 of a scan call.
    pub async fn land_scan(
        &mut self,
        scan: ScanFlight,
        result: std::thread::Result<Dispatched>,
        outlet: &mut dyn Outlet,
    ) {
        let dispatched = self.settle(scan.tool, result);
        let ending = self.words(scan.tool.name).dispatched(scan.tool, dispatched);
        self.close_call(scan.call, ending, outlet).await;
    }

    fn spawn_scan(&mut self, call: &mut Entered, index: usize) -> Result<Started, StoreFault> {
        self.watch(&call.reply_to);
        let mut cx = self.store.scan_cx()?;
        let arguments = std::mem::replace(&mut call.arguments, Value::Null);
        let work = self.dispatch.scan(index, arguments);
        let (sender, done) = oneshot::channel();
        let interrupt = Interrupt::default();
        let stop = interrupt.clone();
        let scan = move || {
            let result = guarded(|| work(&mut cx, &stop));
            // The read transaction ends before the call does.
            drop(cx);
            // The receiver is gone only when the process is about to end.
            let _ = sender.send(result);
        };
        std::thread::Builder::new().name("scan".to_owned()).spawn(scan)?;
        Ok((done, interrupt))
    }
}

/// A scan's result to come, and how to stop it.
type Started = (oneshot::Receiver<std::thread::Result<Dispatched>>, Interrupt);
