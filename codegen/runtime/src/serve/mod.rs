//! The loop: one thread reads, runs the chain and writes, without passing work to other threads (chain#one-thread).
//!
//! [`events`] waits for the next event, [`queues`] holds the calls that cannot run yet, [`turn`] runs them when the
//! store can be written to, and this file sets the order of the work.

mod events;
mod gather;
mod progress;
mod queues;
mod turn;

use std::collections::VecDeque;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::chain::Chain;
use crate::chain::call::{Call, Outlet, Reply, ReplyTo};
use crate::chain::log::Level;
use crate::chain::network::Flight;
use crate::chain::note::{About, Withdrawal};
use crate::chain::scan::ScanFlight;
use crate::chain::store::Store;
use crate::handler::{Dispatch, Dispatched};
use crate::kernel::rfc3339_ms;
use crate::spec::{Runs, ToolSpec};
use crate::wire::fault::UNAVAILABLE;
use crate::wire::frame::Frames;
use crate::wire::intake::{Inbound, Intake};
use crate::wire::outbox::Outbox;
use crate::wire::reply::encode_error;

use events::Event;
use progress::Watched;
use queues::{Queues, WAITING_CALLS};
use turn::{Door, Landed, Landing, Wait};

/// What reaches the loop from outside the streams.
pub enum Control<S> {
    /// The second phase of the start has ended: the store and the sink's kind, or the reason it failed.
    Opened(Result<(S, &'static str), String>),
    /// A signal asks the process to stop.
    Stop,
    /// The running calls have had their time after a signal.
    Expire,
}

/// Why the loop has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The input has ended, and everything read is answered.
    EndOfInput,
    /// A signal; the running call is answered.
    Stopped,
    /// A signal; calls beside the loop did not end in time and were left behind.
    Forced,
    /// The client no longer takes replies: some are lost.
    ClientGone,
    /// The second phase of the start failed.
    StartupFailed(String),
    /// Durability can no longer be promised.
    Fatal(String),
}

/// The loop's state.
pub struct Serve<'a, S: Store, D> {
    chain: &'a mut Chain<S, D>,
    intake: Intake,
    reader: Box<dyn tokio::io::AsyncRead + Unpin>,
    outbox: Outbox,
    watched: Watched,
    frames: Frames,
    chunk: Vec<u8>,
    controls: UnboundedReceiver<Control<S>>,
    queues: Queues,
    flights: Vec<Flight>,
    scan: Option<ScanFlight>,
    /// The store that the second phase has opened, while rows wait for a turn in it.
    opening: Option<(S, &'static str)>,
    /// Calls that ran beside the loop and have ended.
    landings: VecDeque<Landing>,
    /// The batch that runs next.
    door: Option<Door>,
    /// A wait, while another process holds the turn to write.
    wait: Option<Wait>,
    /// Rows of answered calls were refused; the loop tries them again after that time.
    rows_after_ms: f64,
    /// How many calls the last batch had.
    last_batch: usize,
    reading: bool,
    stopping: bool,
    ended: Option<Finish>,
}

impl<'a, S: Store, D: Dispatch<S::Cx>> Serve<'a, S, D> {
    /// Builds a loop; nothing is read before [`Serve::run`].
    pub fn new(
        chain: &'a mut Chain<S, D>,
        server_version: &str,
        reader: Box<dyn tokio::io::AsyncRead + Unpin>,
        writer: Box<dyn tokio::io::AsyncWrite + Unpin>,
        controls: UnboundedReceiver<Control<S>>,
    ) -> Self {
        let redactor = chain.kernel().redactor.clone();
        let intake = Intake::new(
            chain.registry().catalogue(),
            chain.listed(),
            chain.selection(),
            chain.registry().announcement(),
            redactor,
            server_version,
        );
        let outbox = Outbox::new(writer);
        chain.set_notify(progress::notifier(&outbox, &chain.kernel().clock));
        Self {
            chain,
            intake,
            reader,
            outbox,
            watched: Watched::default(),
            frames: Frames::default(),
            chunk: vec![0; events::READ_BYTES],
            controls,
            queues: Queues::default(),
            flights: Vec::new(),
            scan: None,
            opening: None,
            landings: VecDeque::new(),
            door: None,
            wait: None,
            rows_after_ms: 0.0,
            last_batch: 0,
            reading: true,
            stopping: false,
            ended: None,
        }
    }

    /// Takes what has come before the loop begins, and answers what needs no chain; never waits.
    pub async fn greet(&mut self) {
        // The first poll only registers the stream with the runtime; before the second, the runtime asks the system.
        self.react_if_ready().await;
        self.react_if_ready().await;
        self.outbox.flush_now();
    }

    /// Serves until the input ends, a signal comes, or the client is gone.
    pub async fn run(mut self) -> Finish {
        loop {
            self.gather().await;
            self.run_ready().await;
            self.outbox.flush_now();
            if self.frames.has_line() && self.has_room() {
                self.take_lines();
                continue;
            }
            if let Some(finish) = self.finished() {
                return finish;
            }
            let event = self.next_event().await;
            self.react(event);
        }
    }

    fn react(&mut self, event: Event<S>) {
        match event {
            Event::Read(Ok(0)) => self.end_of_input(),
            Event::Read(Ok(_)) => self.take_lines(),
            Event::Read(Err(error)) => {
                self.log(Level::Warn, &format!("reading failed, taken as the end of input: {error}"));
                self.end_of_input();
            }
            Event::Written(Ok(())) => {}
            Event::Written(Err(error)) => self.client_gone(&error),
            Event::Control(control) => self.obey(control),
            Event::Landed(index, result) => self.land(index, result),
            Event::Scanned(result) => self.land_scan(result),
            // [`Serve::run_ready`] does the work that the turn allows.
            Event::Turn => {}
            Event::Progress => self.notify(),
        }
    }

    /// Returns why nothing is left to do, if so.
    fn finished(&mut self) -> Option<Finish> {
        if let Some(reason) = self.chain.fatal() {
            // Replies that are ready still leave; the loop accepts nothing new.
            let reason = reason.to_owned();
            self.reading = false;
            let sent = self.outbox.is_empty() || self.ended == Some(Finish::ClientGone);
            return sent.then_some(Finish::Fatal(reason));
        }
        if self.ended == Some(Finish::Forced) {
            return self.ended.take();
        }
        let beside = !self.flights.is_empty() || self.scan.is_some() || !self.landings.is_empty();
        // Calls answered before the gate opens get their rows when it opens, however the process ends.
        let owing = !self.chain.is_ready() && self.chain.has_buffered();
        let running = beside || self.chain.has_rest() || self.opening.is_some() || owing;
        if self.ended == Some(Finish::ClientGone) {
            return (!running).then_some(Finish::ClientGone);
        }
        let idle = !running && self.door.is_none() && self.queues.is_empty();
        if !idle || !self.outbox.is_empty() {
            return None;
        }
        if self.ended.is_some() {
            return self.ended.take();
        }
        // Input that ends during the first phase waits for the second: what was buffered must be stored.
        (!self.reading && self.chain.is_ready()).then_some(Finish::EndOfInput)
    }

    /// Returns whether there is room for an answer, and for a call that has to wait.
    fn has_room(&self) -> bool {
        !self.outbox.is_full() && !self.intake.is_full() && !self.queues.is_full()
    }

    /// Decodes the complete lines: answers protocol methods at once and queues calls. Lines without room for their
    /// answer, or for the call, stay undecoded.
    fn take_lines(&mut self) {
        while self.has_room()
            && let Some(frame) = self.frames.next()
        {
            let inbound = self.intake.take(frame, &mut self.outbox.buffer());
            self.dispatch_inbound(inbound);
        }
    }

    fn dispatch_inbound(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Answered | Inbound::Held => {}
            Inbound::Ignored(Some(warning)) => self.log(Level::Warn, &warning),
            Inbound::Ignored(None) => {}
            Inbound::Cancel { request_id, reason_hash } => self.cancel(&request_id, reason_hash),
            Inbound::Call(call) => {
                self.watch(&call.reply_to);
                self.admit(call);
            }
            Inbound::Array(members) => members.into_iter().for_each(|member| self.dispatch_inbound(member)),
        }
    }

    /// Queues a call where it belongs.
    fn admit(&mut self, mut call: Call) {
        if self.stopping {
            return self.unavailable(&call.reply_to, "Server is shutting down");
        }
        if self.wait.is_some() {
            call.since_ms = self.now_ms();
        }
        let tool =
            self.chain.registry().lookup(&call.name).and_then(|index| self.chain.registry().get(index));
        if !self.chain.is_ready() {
            if tool.is_some_and(|tool| tool.early) && self.chain.answers_early() {
                self.queues.get_ready(call);
            } else if self.queues.waiting() >= WAITING_CALLS {
                self.unavailable(&call.reply_to, "Server busy");
            } else {
                self.queues.wait_at_gate(call);
            }
            return;
        }
        match tool {
            Some(ToolSpec { name, runs: Runs::Network { at_a_time }, .. }) => {
                if self.queues.waiting() >= WAITING_CALLS && !self.queues.is_free(name, *at_a_time) {
                    self.unavailable(&call.reply_to, "Server busy");
                } else {
                    self.queues.wait_for_lock(name, *at_a_time, call);
                }
            }
            _ => self.queues.get_ready(call),
        }
    }

    fn unavailable(&mut self, to: &ReplyTo, message: &str) {
        let line = encode_error(Some(&to.id), UNAVAILABLE, message, None);
        self.intake.send(&mut self.outbox.buffer(), to, line);
    }

    /// Cancels a call. A waiting call vanishes without a trace; a network call in flight is aborted when it is next polled;
    /// any other running call continues, and a note says so.
    fn cancel(&mut self, request_id: &str, reason_hash: Option<String>) {
        self.watched.forget(request_id);
        let mut dropped = match &mut self.door {
            Some(Door::Calls { batch, .. }) => batch.remove(request_id),
            Some(Door::Scan(call)) if &*call.reply_to.id == request_id => {
                let to = call.reply_to.clone();
                self.door = None;
                vec![to]
            }
            _ => Vec::new(),
        };
        dropped.extend(self.queues.remove(request_id));
        if dropped.is_empty() {
            self.queues.cancelled.push(request_id.into());
            if let Some(about) = self.unstopped(request_id) {
                let at = rfc3339_ms(self.chain.kernel().clock.wall_ms());
                self.chain.note_withdrawn(about, &Withdrawal { at, reason_hash });
            }
        }
        for to in &dropped {
            self.intake.unanswered(&mut self.outbox.buffer(), to);
        }
    }

    /// Returns the entered call with that request id that a cancellation does not end.
    fn unstopped(&self, request_id: &str) -> Option<About> {
        let landing = self.landings.iter().find(|landing| *landing.reply_to().id == *request_id);
        let scan = self.scan.as_ref().filter(|scan| *scan.reply_to().id == *request_id);
        self.chain.entered(request_id).or_else(|| scan?.about()).or_else(|| landing?.about())
    }

    fn obey_waiting(&mut self) {
        while let Ok(control) = self.controls.try_recv() {
            self.obey(control);
        }
    }

    fn obey(&mut self, control: Control<S>) {
        match control {
            Control::Stop => self.stop(),
            Control::Expire => self.expire(),
            Control::Opened(opened) => match opened {
                // The rows of calls answered so far are written first, which takes a turn.
                Ok(opened) if self.chain.has_buffered() => self.opening = Some(opened),
                Ok((store, kind)) => self.open(store, kind),
                Err(reason) => self.startup_failed(reason),
            },
        }
    }

    fn open(&mut self, store: S, kind: &'static str) {
        match self.chain.open(store, kind) {
            Ok(()) => self.open_gate(),
            Err(fault) => self.startup_failed(fault.to_string()),
        }
    }

    fn open_gate(&mut self) {
        for call in self.queues.open_gate() {
            self.admit(call);
        }
    }

    fn startup_failed(&mut self, reason: String) {
        self.reading = false;
        self.chain.give_up_rows();
        let waiting: Vec<Call> = self.queues.drain();
        for call in waiting {
            let Some(answer) = self.chain.startup_failure(&call.name, &reason) else { continue };
            ReplyOutlet(&self.outbox, &mut self.intake).reply(Reply {
                to: call.reply_to,
                answer,
                notice: None,
            });
        }
        self.stopping = true;
        self.ended = Some(Finish::StartupFailed(reason));
    }

    /// Handles a signal: refuses the calls that wait; running calls may finish.
    fn stop(&mut self) {
        self.stopping = true;
        self.reading = false;
        for to in self.drop_waiting() {
            self.unavailable(&to, "Server is shutting down");
        }
        self.ended.get_or_insert(Finish::Stopped);
    }

    /// Drops the calls that have not begun, and returns the requests they would have answered.
    fn drop_waiting(&mut self) -> Vec<ReplyTo> {
        let mut dropped = match self.door.take() {
            None => Vec::new(),
            Some(Door::Scan(call)) => vec![call.reply_to],
            Some(Door::Calls { batch, acquired }) => {
                acquired.iter().for_each(|tool| self.queues.release(tool));
                batch.drop_all()
            }
        };
        dropped.extend(self.queues.drain().into_iter().map(|call| call.reply_to));
        dropped
    }

    /// Stops waiting for calls beside the loop. Network calls own nothing and scans only read, so their rows stay open
    /// until a later start closes them (chain#shutdown).
    fn expire(&mut self) {
        let owing = !self.chain.is_ready() && self.chain.has_buffered();
        if owing {
            self.chain.give_up_rows();
        }
        let beside = self.flights.drain(..).map(|flight| flight.reply_to().clone());
        let landed = self.landings.drain(..).map(|landing| landing.reply_to().clone());
        let left: Vec<ReplyTo> = beside.chain(landed).collect();
        if owing && left.is_empty() && self.opening.is_none() && self.outbox.is_empty() {
            // The loop only waited for the start.
            return;
        }
        for to in &left {
            self.intake.unanswered(&mut self.outbox.buffer(), to);
        }
        if let Some(scan) = self.scan.take() {
            scan.interrupt.raise();
            self.intake.unanswered(&mut self.outbox.buffer(), scan.reply_to());
        }
        self.ended = Some(Finish::Forced);
    }

    /// Ends the loop as unclean, because the client has lost replies.
    fn client_gone(&mut self, error: &std::io::Error) {
        self.log(Level::Error, &format!("[colibri] replies are lost, since they cannot be written: {error}"));
        self.stopping = true;
        self.reading = false;
        self.outbox.discard();
        drop(self.drop_waiting());
        self.ended = Some(Finish::ClientGone);
    }

    fn end_of_input(&mut self) {
        let mut frames = std::mem::take(&mut self.frames);
        if let Some(frame) = frames.finish() {
            let inbound = self.intake.take(frame, &mut self.outbox.buffer());
            self.dispatch_inbound(inbound);
        }
        self.reading = false;
    }

    fn land(&mut self, index: usize, result: Option<std::thread::Result<Dispatched>>) {
        let flight = self.flights.remove(index);
        self.landed(Landed::Flight(flight, result));
    }

    fn land_scan(&mut self, result: std::thread::Result<Dispatched>) {
        if let Some(scan) = self.scan.take() {
            self.landed(Landed::Scan(scan, result));
        }
    }

    fn landed(&mut self, what: Landed) {
        let since_ms = if self.wait.is_some() { self.now_ms() } else { 0.0 };
        self.landings.push_back(Landing { what, since_ms });
    }

    fn log(&self, level: Level, message: &str) {
        let kernel = self.chain.kernel();
        kernel.log.write(level, &kernel.redactor.redact(message));
    }
}

/// Encodes replies straight into the outbox.
struct ReplyOutlet<'a>(&'a Outbox, &'a mut Intake);

impl Outlet for ReplyOutlet<'_> {
    fn reply(&mut self, reply: Reply) {
        self.1.encode(&mut self.0.buffer(), &reply);
    }

    fn unanswered(&mut self, to: &ReplyTo) {
        self.1.unanswered(&mut self.0.buffer(), to);
    }

    fn flush(&mut self) {
        self.0.flush_now();
    }
}
