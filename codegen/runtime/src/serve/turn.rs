//! The turn to write, which another process may hold without limit: the loop asks for it, goes on with everything
//! else meanwhile, and fails calls that have waited too long.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;

use crate::chain::call::{Call, ReplyTo};
use crate::chain::log::Level;
use crate::chain::network::Flight;
use crate::chain::note::About;
use crate::chain::prepared::Prepared;
use crate::chain::scan::ScanFlight;
use crate::chain::store::Store;
use crate::chain::{TURN_GRACE, TURN_LIMIT};
use crate::handler::{Dispatch, Dispatched};
use crate::serve::queues::{BATCH_CALLS, Batch};
use crate::serve::{ReplyOutlet, Serve};

/// A batch that runs at the next turn.
pub(super) enum Door {
    /// Calls, and the tools whose locks were taken for them, a tool as often as for calls of it.
    Calls { batch: Prepared, acquired: Vec<&'static str> },
    /// A long read.
    Scan(Call),
}

/// A call that ran beside the loop and has ended; its exit row is written at the next turn.
pub(super) struct Landing {
    pub what: Landed,
    /// When it ended.
    pub since_ms: f64,
}

impl Landing {
    /// Returns the request that it will answer.
    pub fn reply_to(&self) -> &ReplyTo {
        match &self.what {
            Landed::Flight(flight, _) => flight.reply_to(),
            Landed::Scan(scan, _) => scan.reply_to(),
        }
    }

    /// Returns the call, for notes.
    pub fn about(&self) -> Option<About> {
        match &self.what {
            Landed::Flight(flight, _) => flight.about(),
            Landed::Scan(scan, _) => scan.about(),
        }
    }
}

pub(super) enum Landed {
    /// `None` when it was cancelled.
    Flight(Flight, Option<std::thread::Result<Dispatched>>),
    Scan(ScanFlight, std::thread::Result<Dispatched>),
}

/// A wait for the turn.
pub(super) struct Wait {
    /// When it began, moved later by the time for which this process itself stood still.
    began_ms: f64,
    /// When it was last checked.
    seen_ms: f64,
    /// The log has said who holds the turn.
    warned: bool,
    /// When something is due although the turn has not come.
    alarm: Option<Pin<Box<Sleep>>>,
}

/// The longest time between two checks of a wait.
const TICK_MS: f64 = 500.0;
/// After so long without a check, this process was frozen or its machine asleep: that time does not count.
const STANDSTILL_MS: f64 = 1500.0;
/// How long the loop waits before it offers refused rows to the store again.
const BUFFER_PAUSE_MS: f64 = 1000.0;

const fn milliseconds(duration: Duration) -> f64 {
    duration.as_millis() as f64
}

impl<S: Store, D: Dispatch<S::Cx>> Serve<'_, S, D> {
    /// Runs everything that can run now, batch by batch, while there is room for the replies: they may be a thousand
    /// times as large as the requests.
    pub(super) async fn run_ready(&mut self) {
        while self.chain.fatal().is_none() && !self.outbox.is_full() {
            self.obey_waiting();
            self.cut_batch();
            if !self.wants_turn() && self.wait.is_none() {
                break;
            }
            if !self.has_turn().await {
                self.go_on_without().await;
                if self.run_overdue().await {
                    continue;
                }
                return;
            }
            self.use_turn().await;
        }
        if self.chain.fatal().is_some() {
            self.answer_unstored().await;
        }
        // Nothing more is done now, so other processes must not wait for this one.
        self.wait = None;
        self.chain.store.leave_queue();
    }

    /// Ends calls after a failed sync: nothing is begun, and calls that ran or were entered are answered with the failure.
    async fn answer_unstored(&mut self) {
        while let Some(landing) = self.landings.pop_front() {
            self.close(landing).await;
        }
        while self.chain.has_rest() {
            self.chain.resume(&mut ReplyOutlet(&self.outbox, &mut self.intake));
        }
    }

    /// Returns whether something is to be written.
    fn wants_turn(&self) -> bool {
        self.opening.is_some()
            || self.chain.has_notes()
            || !self.landings.is_empty()
            || self.chain.has_rest()
            || self.door.is_some()
            || self.owes_rows()
    }

    /// Returns whether calls were answered whose rows can be written now.
    fn owes_rows(&self) -> bool {
        self.chain.is_ready() && self.chain.has_buffered() && self.now_ms() >= self.rows_after_ms
    }

    /// Takes the next batch as far as stage 2, unless one is there already. A batch is not cut during a wait: calls
    /// that come meanwhile have their own limit.
    fn cut_batch(&mut self) {
        let busy = self.scan.is_some() || self.door.is_some() || self.chain.has_rest();
        if !busy && self.wait.is_none() {
            self.door = self.next_door(f64::INFINITY);
        }
    }

    /// Returns the next batch of calls that came until that time.
    fn next_door(&mut self, until_ms: f64) -> Option<Door> {
        let most = self.chain.most_calls(BATCH_CALLS);
        let batch = self.queues.next_batch(self.chain.registry(), most, until_ms)?;
        self.chain.set_queue_depth(self.queues.waiting());
        Some(match batch {
            Batch::Scan(call) => Door::Scan(call),
            Batch::Calls { calls, acquired } => {
                self.last_batch = calls.len();
                Door::Calls { batch: self.chain.check_batch(calls), acquired }
            }
        })
    }

    async fn has_turn(&mut self) -> bool {
        let polled = std::future::poll_fn(|cx| Poll::Ready(self.poll_turn(cx))).await;
        if polled.is_pending() {
            return false;
        }
        // A failed request for the turn also ends the wait: the work that begins without the turn reports why.
        if let Some(Wait { warned: true, began_ms, .. }) = self.wait.take() {
            let seconds = (self.now_ms() - began_ms) / 1000.0;
            self.log(Level::Warn, &format!("[store] the turn to write came after {seconds:.1} s"));
        }
        true
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let store = self.opening.as_mut().map_or(&mut self.chain.store, |(store, _)| store);
        store.poll_turn(cx).map(drop)
    }

    /// Waits until the turn may have come, or something is due without it.
    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(wait) = &mut self.wait else { return Poll::Pending };
        if let Some(alarm) = &mut wait.alarm
            && alarm.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(());
        }
        self.poll_turn(cx)
    }

    /// Does one piece of work, the oldest first, with the turn.
    async fn use_turn(&mut self) {
        if let Some((store, kind)) = self.opening.take() {
            return self.open(store, kind);
        }
        if self.chain.has_notes() {
            // Before the rows of the calls that they are about are closed.
            return self.chain.write_notes();
        }
        if let Some(landing) = self.landings.pop_front() {
            return self.close(landing).await;
        }
        if self.owes_rows() {
            if !self.chain.write_buffered() {
                self.rows_after_ms = self.now_ms() + BUFFER_PAUSE_MS;
            }
            return;
        }
        if self.chain.has_rest() {
            self.chain.resume(&mut ReplyOutlet(&self.outbox, &mut self.intake));
        } else {
            let door = match self.door.take() {
                Some(door) => Some(door),
                // The batch at the door has failed, and further calls have come.
                None if self.scan.is_none() => self.next_door(f64::INFINITY),
                None => None,
            };
            let Some(door) = door else { return };
            self.run_door(door).await;
        }
        self.outbox.flush_now();
        self.chain.store.upkeep();
    }

    async fn run_door(&mut self, door: Door) {
        let mut outlet = ReplyOutlet(&self.outbox, &mut self.intake);
        match door {
            Door::Scan(call) => self.scan = self.chain.start_scan(call, &mut outlet).await,
            Door::Calls { batch, mut acquired } => {
                let flights = self.chain.run_prepared(batch, &mut outlet).await;
                for flight in &flights {
                    if let Some(at) = acquired.iter().position(|tool| *tool == flight.tool()) {
                        acquired.swap_remove(at);
                    }
                }
                // The calls that were refused hold nothing any more.
                acquired.iter().for_each(|tool| self.queues.release(tool));
                self.flights.extend(flights);
            }
        }
    }

    /// Runs stage 5 of a call that ran beside the loop.
    async fn close(&mut self, landing: Landing) {
        let mut outlet = ReplyOutlet(&self.outbox, &mut self.intake);
        match landing.what {
            Landed::Flight(flight, result) => {
                self.queues.release(flight.tool());
                match result {
                    Some(result) => self.chain.land(flight, result, &mut outlet).await,
                    None => self.chain.cancel(flight, &mut outlet).await,
                }
            }
            Landed::Scan(scan, result) => self.chain.land_scan(scan, result, &mut outlet).await,
        }
    }

    /// Works without the turn: logs a long wait once, and answers calls that need no store.
    async fn go_on_without(&mut self) {
        let now = self.now_ms();
        let wait = self.wait.get_or_insert(Wait { began_ms: now, seen_ms: now, warned: false, alarm: None });
        let unseen = now - std::mem::replace(&mut wait.seen_ms, now);
        if unseen > STANDSTILL_MS {
            wait.began_ms += unseen;
        }
        let began = wait.began_ms;
        if !self.chain.is_ready() {
            // Until the gate opens, only calls that need no store run.
            while let Some(door) = self.next_door(f64::INFINITY) {
                self.run_door(door).await;
            }
        }
        if now - began < milliseconds(TURN_GRACE) {
            return;
        }
        let warned = self.wait.as_mut().is_some_and(|wait| std::mem::replace(&mut wait.warned, true));
        if !warned {
            let store = self.opening.as_mut().map_or(&mut self.chain.store, |(store, _)| store);
            let obstacle = store.obstacle();
            let limit = TURN_LIMIT.as_secs();
            self.log(
                Level::Warn,
                &format!("[store] {obstacle}; each call fails when it has waited for {limit} s"),
            );
        }
        if !self.chain.is_ready() {
            return;
        }
        let mut outlet = ReplyOutlet(&self.outbox, &mut self.intake);
        if let Some(Door::Calls { batch, .. }) = &mut self.door {
            self.chain.answer_without_store(batch, &mut outlet);
        }
        while self.chain.may_answer_early()
            && let Some(call) = self.queues.take_free(self.chain.registry())
        {
            let mut batch = self.chain.check_batch(vec![call]);
            self.chain.answer_without_store(&mut batch, &mut outlet);
        }
    }

    /// Runs overdue work without the turn, which fails it with the reason, and returns whether there was any.
    /// Otherwise sets the alarm for the next that is due.
    async fn run_overdue(&mut self) -> bool {
        let now = self.now_ms();
        let Some(wait) = &self.wait else { return false };
        let (began, limit) = (wait.began_ms, milliseconds(TURN_LIMIT));
        if now >= began + limit {
            if let Some((store, kind)) = self.opening.take() {
                self.open(store, kind);
                return true;
            }
            if self.chain.has_rest() {
                self.chain.resume(&mut ReplyOutlet(&self.outbox, &mut self.intake));
                return true;
            }
            // Calls that were read already and would follow the batch at the door have waited as long.
            let overdue = match self.door.take() {
                None if self.scan.is_none() => self.next_door(now - limit),
                door => door,
            };
            if let Some(door) = overdue {
                self.run_door(door).await;
                return true;
            }
        }
        if self.landings.front().is_some_and(|landing| now >= landing.since_ms.max(began) + limit)
            && let Some(landing) = self.landings.pop_front()
        {
            self.close(landing).await;
            return true;
        }
        self.set_alarm(now);
        false
    }

    fn set_alarm(&mut self, now: f64) {
        let Some(wait) = &mut self.wait else { return };
        let limit = milliseconds(TURN_LIMIT);
        let grace = (!wait.warned).then_some(wait.began_ms + milliseconds(TURN_GRACE));
        let first = self.opening.is_some() || self.chain.has_rest() || self.door.is_some();
        let due = [
            grace,
            first.then_some(wait.began_ms + limit),
            (self.scan.is_none().then(|| self.queues.oldest_ms()).flatten())
                .map(|since| since.max(wait.began_ms) + limit),
            self.landings.front().map(|landing| landing.since_ms.max(wait.began_ms) + limit),
        ];
        let next = due.into_iter().flatten().fold(now + TICK_MS, f64::min);
        // One millisecond more, so that the work is surely due when the alarm rings.
        let after = Duration::from_secs_f64((next - now).max(0.0) / 1000.0) + Duration::from_millis(1);
        wait.alarm = Some(Box::pin(tokio::time::sleep(after)));
    }

    /// Returns the time of the kernel's clock.
    pub(super) fn now_ms(&self) -> f64 {
        self.chain.kernel().clock.monotonic_ms()
    }
}
