//! Group commit for clients that keep several calls in flight: a batch waits a moment for the calls that answer the last
//! batch's replies.
//!
//! Such a client sends one call for each reply it reads. The loop would wake at the first of them, sync for it alone, and
//! find the others waiting: two syncs for what one could have covered. What is waited is less than what a sync takes, and
//! only calls of a client that had several in flight are waited for: one call at a time never waits.

use std::future::Future;
use std::task::Poll;

use crate::chain::store::Store;
use crate::handler::Dispatch;
use crate::serve::Serve;

/// Which part of a sync's time is waited at most.
const SHARE_OF_SYNC: f64 = 0.5;
/// However slow the disk, no call waits longer for its neighbours, in milliseconds.
const LONGEST_MS: f64 = 0.5;
/// Syncs below this, in milliseconds, are not worth a look at the clock: nothing is synced, or in memory.
const CHEAP_SYNC_MS: f64 = 0.02;

impl<S: Store, D: Dispatch<S::Cx>> Serve<'_, S, D> {
    /// Reads on until as many calls are there as the last batch had, or the time is up.
    pub(super) async fn gather(&mut self) {
        let sync_ms = self.chain.sync_ms();
        if sync_ms < CHEAP_SYNC_MS || !self.may_gather() {
            return;
        }
        let clock = self.chain.kernel().clock.clone();
        let until = clock.monotonic_ms() + (sync_ms * SHARE_OF_SYNC).min(LONGEST_MS);
        while self.may_gather() && clock.monotonic_ms() < until {
            self.react_if_ready().await;
        }
        // What has come with the last of them may come along.
        self.react_if_ready().await;
    }

    /// Calls are waiting, fewer than last time, and more can be read.
    fn may_gather(&self) -> bool {
        let waiting = self.queues.ready();
        self.reading
            && self.scan.is_none()
            && self.wait.is_none()
            && 0 < waiting
            && waiting < self.last_batch
            && self.has_room()
    }

    /// Reacts to an event if there is one; otherwise lets the client have the processor for a moment.
    pub(super) async fn react_if_ready(&mut self) {
        let event = {
            let mut next = std::pin::pin!(self.next_event());
            std::future::poll_fn(|cx| match next.as_mut().poll(cx) {
                Poll::Ready(event) => Poll::Ready(Some(event)),
                Poll::Pending => Poll::Ready(None),
            })
            .await
        };
        match event {
            Some(event) => self.react(event),
            None => {
                std::thread::yield_now();
                // The runtime looks at the streams when a task yields.
                tokio::task::yield_now().await;
            }
        }
    }
}
