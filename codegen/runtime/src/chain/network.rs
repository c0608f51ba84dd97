//! Network tools: they hold no store and run beside the loop, of each tool as many at a time as it states (chain#network-tools).

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use serde_json::Value;

use crate::chain::Chain;
use crate::chain::call::{Call, Outlet, ReplyTo};
use crate::chain::check::Target;
use crate::chain::note::About;
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

    /// Returns the call, for notes.
    pub(crate) fn about(&self) -> Option<About> {
        About::of(&self.call.row)
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

/// The per-tool locks: calls that wait for one, in arrival order. As many calls hold a tool's lock as the tool states.
#[derive(Debug, Default)]
pub(crate) struct ToolLocks {
    waiting: HashMap<&'static str, Line>,
    /// A name for each call that holds a lock.
    held: Vec<&'static str>,
}

/// The calls that wait for the lock of a tool.
#[derive(Debug)]
struct Line {
    at_a_time: usize,
    calls: VecDeque<Call>,
}

impl ToolLocks {
    /// Puts a call into its tool's queue.
    pub(crate) fn enqueue(&mut self, tool: &'static str, at_a_time: usize, call: Call) {
        let line = self.waiting.entry(tool).or_insert_with(|| Line { at_a_time, calls: VecDeque::new() });
        line.calls.push_back(call);
    }

    /// Takes the next calls of every tool as far as its lock is free, if they came until that time, and holds the lock for them.
    pub(crate) fn acquire(&mut self, until_ms: f64) -> Vec<Call> {
        let mut starting = Vec::new();
        for (tool, line) in &mut self.waiting {
            while holders(&self.held, tool) < line.at_a_time
                && let Some(call) = line.calls.pop_front_if(|call| call.since_ms <= until_ms)
            {
                self.held.push(tool);
                starting.push(call);
            }
        }
        self.waiting.retain(|_, line| !line.calls.is_empty());
        starting
    }

    /// Returns the arrival time of the oldest call whose tool's lock is free.
    pub(crate) fn oldest_ms(&self) -> Option<f64> {
        let free = self.waiting.iter().filter(|(tool, line)| holders(&self.held, tool) < line.at_a_time);
        free.filter_map(|(_, line)| line.calls.front()).map(|call| call.since_ms).reduce(f64::min)
    }

    /// Releases a tool's lock for one call.
    pub fn release(&mut self, tool: &str) {
        if let Some(at) = self.held.iter().position(|held| *held == tool) {
            self.held.swap_remove(at);
        }
    }

    /// Returns how many calls wait.
    pub fn waiting(&self) -> usize {
        self.waiting.values().map(|line| line.calls.len()).sum()
    }

    /// Returns how many bytes the calls have that wait.
    pub fn bytes(&self) -> usize {
        self.waiting.values().flat_map(|line| &line.calls).map(|call| call.bytes).sum()
    }

    /// Returns whether the next call of a tool need not wait for its lock.
    pub fn is_free(&self, tool: &str, at_a_time: usize) -> bool {
        holders(&self.held, tool) < at_a_time && !self.waiting.contains_key(tool)
    }

    /// Drops the waiting calls with that id, and returns the requests they would have answered.
    pub fn remove(&mut self, request_id: &str) -> Vec<ReplyTo> {
        let lines = self.waiting.values_mut();
        let dropped = lines.flat_map(|line| drop_calls(&mut line.calls, request_id)).collect();
        self.waiting.retain(|_, line| !line.calls.is_empty());
        dropped
    }

    /// Takes every waiting call.
    pub fn drain(&mut self) -> Vec<Call> {
        self.waiting.drain().flat_map(|(_, line)| line.calls).collect()
    }
}

fn holders(held: &[&str], tool: &str) -> usize {
    held.iter().filter(|held| **held == tool).count()
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
