//! Calls that have been read and cannot run yet (chain#waiting), and how they are cut into batches.

use std::collections::VecDeque;

use crate::chain::call::{Call, ReplyTo};
use crate::chain::network::{ToolLocks, drop_calls};
use crate::chain::registry::Registry;
use crate::spec::Runs;

/// How many calls may wait at the gate and for network locks together.
pub const WAITING_CALLS: usize = 1024;
/// How many bytes of calls may wait in all queues together before the loop stops reading.
pub const WAITING_BYTES: usize = 8 * 1024 * 1024;
/// The most calls of a batch.
pub(crate) const BATCH_CALLS: usize = 64;
/// The most bytes of a batch; one longer line is a batch of its own.
pub(crate) const BATCH_BYTES: usize = 1024 * 1024;

/// What is run next.
pub(super) enum Batch {
    /// Calls that share their two transactions; the tools whose locks were taken for it.
    Calls { calls: Vec<Call>, acquired: Vec<&'static str> },
    /// A long read, alone.
    Scan(Call),
}

#[derive(Default)]
pub(super) struct Queues {
    /// Calls that wait for the second phase of the start.
    gate: VecDeque<Call>,
    /// Calls that can run.
    ready: VecDeque<Call>,
    /// Network calls and the locks of their tools.
    locks: ToolLocks,
    /// The bytes of all of them.
    bytes: usize,
    /// Ids of network calls in flight that are to be aborted.
    pub cancelled: Vec<Box<str>>,
}

impl Queues {
    /// Adds a call that waits for the start.
    pub fn wait_at_gate(&mut self, call: Call) {
        self.bytes += call.bytes;
        self.gate.push_back(call);
    }

    /// Takes the calls that waited for the start.
    pub fn open_gate(&mut self) -> VecDeque<Call> {
        let calls = std::mem::take(&mut self.gate);
        self.bytes -= bytes_of(&calls);
        calls
    }

    /// Adds a call that can run.
    pub fn get_ready(&mut self, call: Call) {
        self.bytes += call.bytes;
        self.ready.push_back(call);
    }

    /// Adds a call that waits for the lock of its tool.
    pub fn wait_for_lock(&mut self, tool: &'static str, at_a_time: usize, call: Call) {
        self.bytes += call.bytes;
        self.locks.enqueue(tool, at_a_time, call);
    }

    /// Returns whether the next call of a tool need not wait for its lock.
    pub fn is_free(&self, tool: &str, at_a_time: usize) -> bool {
        self.locks.is_free(tool, at_a_time)
    }

    /// Releases the lock of a tool for one call.
    pub fn release(&mut self, tool: &str) {
        self.locks.release(tool);
    }

    /// Returns whether nothing more should be read until some calls have run.
    pub fn is_full(&self) -> bool {
        self.bytes > WAITING_BYTES || self.ready.len() >= WAITING_CALLS
    }

    /// Returns how many calls can run.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    pub fn waiting(&self) -> usize {
        self.gate.len() + self.locks.waiting()
    }

    pub fn is_empty(&self) -> bool {
        self.gate.is_empty() && self.ready.is_empty() && self.locks.waiting() == 0
    }

    /// Takes the next batch: network calls whose lock is free, then calls in arrival order. It has at most `most` calls,
    /// none of which came after that time.
    pub fn next_batch(&mut self, registry: &Registry, most: usize, until_ms: f64) -> Option<Batch> {
        let mut calls = self.locks.acquire(until_ms);
        let acquired =
            calls.iter().filter_map(|call| Some(registry.get(registry.lookup(&call.name)?)?.name)).collect();
        let mut bytes = bytes_of(&calls);
        self.bytes -= bytes;
        while let Some(next) = self.ready.front() {
            let scan = registry
                .lookup(&next.name)
                .and_then(|index| registry.get(index))
                .is_some_and(|tool| tool.runs == Runs::Scan);
            let full = calls.len() >= most || bytes + next.bytes > BATCH_BYTES;
            if next.since_ms > until_ms || !calls.is_empty() && (scan || full) {
                break;
            }
            let Some(call) = self.ready.pop_front() else { break };
            bytes += call.bytes;
            self.bytes -= call.bytes;
            if scan {
                return Some(Batch::Scan(call));
            }
            calls.push(call);
        }
        (!calls.is_empty()).then_some(Batch::Calls { calls, acquired })
    }

    /// Takes the first call that may run before it has a row, or names no tool at all.
    pub fn take_free(&mut self, registry: &Registry) -> Option<Call> {
        let at = self.ready.iter().position(|call| {
            let tool = registry.lookup(&call.name).and_then(|index| registry.get(index));
            tool.is_none_or(|tool| tool.runs_unentered())
        })?;
        let call = self.ready.remove(at)?;
        self.bytes -= call.bytes;
        Some(call)
    }

    /// When the oldest call came that could run but for the store.
    pub fn oldest_ms(&self) -> Option<f64> {
        let ready = self.ready.front().map(|call| call.since_ms);
        ready.into_iter().chain(self.locks.oldest_ms()).reduce(f64::min)
    }

    /// Drops the waiting calls with that id; who would have been answered.
    pub fn remove(&mut self, request_id: &str) -> Vec<ReplyTo> {
        let mut dropped = drop_calls(&mut self.gate, request_id);
        dropped.extend(drop_calls(&mut self.ready, request_id));
        dropped.extend(self.locks.remove(request_id));
        if !dropped.is_empty() {
            self.bytes = bytes_of(self.gate.iter().chain(&self.ready)) + self.locks.bytes();
        }
        dropped
    }

    /// Takes every call that waits.
    pub fn drain(&mut self) -> Vec<Call> {
        let mut calls: Vec<Call> = self.gate.drain(..).chain(self.ready.drain(..)).collect();
        calls.extend(self.locks.drain());
        self.bytes = 0;
        calls
    }
}

fn bytes_of<'a>(calls: impl IntoIterator<Item = &'a Call>) -> usize {
    calls.into_iter().map(|call| call.bytes).sum()
}
