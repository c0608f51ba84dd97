//! Network tools: they hold no store and run beside the loop, one at a time per tool (chain#network-tools).

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use serde_json::Value;

use crate::chain::Chain;
use crate::chain::call::{Call, Outlet, ReplyTo};
use crate::chain::check::Target;
use crate::chain::row::Entered;
use crate::chain::store::Store;
use crate::handler::{Context, Dispatch, Dispatched, NetworkCall, guarded};
use crate::spec::ToolSpec;

/// A network call in flight. Dropping it aborts the attempt; [`Chain::land`] or [`Chain::cancel`] close
/// its audit row.
pub struct Flight {
    call: Entered,
    tool: &'static ToolSpec,
    work: NetworkCall,
}

impl Flight {
    /// Returns the request that it will answer.
    pub fn reply_to(&self) -> &ReplyTo {
        &self.call.reply_to
    }

    /// Returns the tool whose lock it holds.
    pub fn tool(&self) -> &'static str {
        self.tool.name
    }

    /// Polls the handler; a panic ends the flight like a failure.
    pub fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<std::thread::Result<Dispatched>> {
        match guarded(|| Pin::new(&mut self.work).poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Begins stage 4 of a network call.
    pub(super) fn start_flight(&mut self, mut call: Entered, target: Target) -> Flight {
        let arguments = std::mem::replace(&mut call.arguments, Value::Null);
        self.watch(&call.reply_to);
        let (dispatch, cx) = (&mut self.dispatch, self.store.cx().network());
        let work = match guarded(|| dispatch.network(cx, target.index, arguments)) {
            Ok(work) => work,
            Err(panic) => Box::pin(async move { std::panic::resume_unwind(panic) }),
        };
        Flight { call, tool: target.tool, work }
    }

    /// Runs stage 5 of a network call: writes its exit row in a transaction of its own, then replies.
    pub async fn land(
        &mut self,
        flight: Flight,
        result: std::thread::Result<Dispatched>,
        outlet: &mut dyn Outlet,
    ) {
        let dispatched = self.settle(flight.tool, result);
        let ending = self.words(flight.tool.name).dispatched(flight.tool, dispatched);
        self.close_call(flight.call, ending, outlet).await;
    }

    /// Cancels the call for the client: drops the attempt, closes the row and answers nothing.
    pub async fn cancel(&mut self, flight: Flight, outlet: &mut dyn Outlet) {
        let Flight { call, work, .. } = flight;
        drop(work);
        let ending = self.words(&call.row.tool).cancelled();
        self.close_call(call, ending, outlet).await;
    }
}

/// The per-tool locks: calls that wait for one, in arrival order.
#[derive(Debug, Default)]
pub(crate) struct ToolLocks {
    waiting: HashMap<&'static str, VecDeque<Call>>,
    held: Vec<&'static str>,
}

impl ToolLocks {
    /// Puts a call into its tool's queue.
    pub(crate) fn enqueue(&mut self, tool: &'static str, call: Call) {
        self.waiting.entry(tool).or_default().push_back(call);
    }

    /// Takes the next call of every tool whose lock is free, if it came until that time, and holds the lock for it.
    pub(crate) fn acquire(&mut self, until_ms: f64) -> Vec<Call> {
        let mut starting = Vec::new();
        for (tool, queue) in &mut self.waiting {
            if !self.held.contains(tool)
                && let Some(call) = queue.pop_front_if(|call| call.since_ms <= until_ms)
            {
                self.held.push(tool);
                starting.push(call);
            }
        }
        self.waiting.retain(|_, queue| !queue.is_empty());
        starting
    }

    /// Returns the arrival time of the oldest call whose tool's lock is free.
    pub(crate) fn oldest_ms(&self) -> Option<f64> {
        let free = self.waiting.iter().filter(|(tool, _)| !self.held.contains(*tool));
        free.filter_map(|(_, queue)| queue.front()).map(|call| call.since_ms).reduce(f64::min)
    }

    /// Releases a tool's lock.
    pub fn release(&mut self, tool: &str) {
        self.held.retain(|held| *held != tool);
    }

    /// Returns how many calls wait.
    pub fn waiting(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// Returns whether no call holds or awaits a tool's lock.
    pub fn is_free(&self, tool: &str) -> bool {
        !self.held.contains(&tool) && !self.waiting.contains_key(tool)
    }

    /// Drops the waiting calls with that id, and returns the requests they would have answered.
    pub fn remove(&mut self, request_id: &str) -> Vec<ReplyTo> {
        let dropped = self.waiting.values_mut().flat_map(|queue| drop_calls(queue, request_id)).collect();
        self.waiting.retain(|_, queue| !queue.is_empty());
        dropped
    }

    /// Takes every waiting call.
    pub fn drain(&mut self) -> Vec<Call> {
        self.waiting.drain().flat_map(|(_, queue)| queue).collect()
    }
}

/// Drops the calls with that id from a queue, and returns the requests they would have answered.
pub(crate) fn drop_calls(queue: &mut VecDeque<Call>, request_id: &str) -> Vec<ReplyTo> {
    let mut dropped = Vec::new();
    queue.retain(|call| {
        let stays = &*call.reply_to.id != request_id;
        if !stays {
            dropped.push(call.reply_to.clone());
        }
        stays
    });
    dropped
}
