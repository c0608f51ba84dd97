//! The loop: one thread reads, runs the chain and writes, with no hand-over between (design §3).
//!
//! [`events`] waits for whatever happens next, [`queues`] holds the calls that cannot run yet, and this
//! file says what is done in which order.

mod events;
mod gather;
mod queues;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::chain::Chain;
use crate::chain::call::{Call, Outlet, Reply};
use crate::chain::log::Level;
use crate::chain::network::Flight;
use crate::chain::scan::ScanFlight;
use crate::chain::store::Store;
use crate::handler::{Dispatch, Dispatched};
use crate::spec::Kind;
use crate::wire::fault::UNAVAILABLE;
use crate::wire::frame::Frames;
use crate::wire::intake::{Inbound, Intake};
use crate::wire::outbox::Outbox;
use crate::wire::reply::encode_error;

use events::Event;
use queues::{Queues, WAITING_CALLS};

pub use queues::{BATCH_BYTES, BATCH_CALLS};

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
    /// The input ended, everything read is answered.
    EndOfInput,
    /// A signal; the running call is answered.
    Stopped,
    /// A signal; calls beside the loop did not end in time and were left behind.
    Forced,
    /// The client does not take replies any more.
    ClientGone,
    /// The second phase of the start failed.
    StartupFailed(String),
    /// Durability cannot be promised any more.
    Fatal(String),
}

/// The loop's state.
pub struct Serve<'a, S: Store, D> {
    chain: &'a mut Chain<S, D>,
    intake: Intake,
    reader: Box<dyn tokio::io::AsyncRead + Unpin>,
    outbox: Outbox,
    frames: Frames,
    chunk: Vec<u8>,
    controls: UnboundedReceiver<Control<S>>,
    queues: Queues,
    flights: Vec<Flight>,
    scan: Option<ScanFlight>,
    /// How many calls the last batch had.
    last_batch: usize,
    reading: bool,
    stopping: bool,
    ended: Option<Finish>,
}

impl<'a, S: Store, D: Dispatch<S::Cx>> Serve<'a, S, D> {
    /// Puts a loop together; nothing is read before [`Serve::run`].
    pub fn new(
        chain: &'a mut Chain<S, D>,
        server_version: &str,
        reader: Box<dyn tokio::io::AsyncRead + Unpin>,
        writer: Box<dyn tokio::io::AsyncWrite + Unpin>,
        controls: UnboundedReceiver<Control<S>>,
    ) -> Self {
        let intake = Intake::new(chain.registry(), server_version);
        Self {
            chain,
            intake,
            reader,
            outbox: Outbox::new(writer),
            frames: Frames::default(),
            chunk: vec![0; events::READ_BYTES],
            controls,
            queues: Queues::default(),
            flights: Vec::new(),
            scan: None,
            last_batch: 0,
            reading: true,
            stopping: false,
            ended: None,
        }
    }

    /// Takes what has come before the loop begins, and answers what needs no chain; never waits.
    pub async fn greet(&mut self) {
        // At its first look the runtime only learns of the stream; before the second it asks the system.
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
            if self.frames.has_line() && !self.outbox.is_full() {
                self.take_lines();
                continue;
            }
            if let Some(finish) = self.finished() {
                return finish;
            }
            let event = self.next_event().await;
            self.react(event).await;
        }
    }

    async fn react(&mut self, event: Event<S>) {
        match event {
            Event::Read(Ok(0)) => self.end_of_input(),
            Event::Read(Ok(_)) => self.take_lines(),
            Event::Read(Err(error)) => {
                self.log(Level::Warn, &format!("reading failed, taken as the end of input: {error}"));
                self.end_of_input();
            }
            Event::Written(Ok(())) => {}
            Event::Written(Err(_)) => self.client_gone(),
            Event::Control(control) => self.obey(control),
            Event::Landed(index, result) => self.land(index, result).await,
            Event::Scanned(result) => self.land_scan(result).await,
        }
    }

    /// Whether there is nothing left to do, and why.
    fn finished(&mut self) -> Option<Finish> {
        if let Some(reason) = self.chain.fatal() {
            // What is answered already still leaves; nothing new is taken on.
            let reason = reason.to_owned();
            self.reading = false;
            let sent = self.outbox.is_empty() || self.ended == Some(Finish::ClientGone);
            return sent.then_some(Finish::Fatal(reason));
        }
        if self.ended == Some(Finish::Forced) {
            return self.ended.take();
        }
        if self.ended == Some(Finish::ClientGone) {
            return (self.flights.is_empty() && self.scan.is_none()).then_some(Finish::ClientGone);
        }
        let idle = self.flights.is_empty() && self.scan.is_none() && self.queues.is_empty();
        if !idle || !self.outbox.is_empty() {
            return None;
        }
        if self.ended.is_some() {
            return self.ended.take();
        }
        // Input that ends during the first phase waits for the second: what was buffered must be stored.
        (!self.reading && self.chain.is_ready()).then_some(Finish::EndOfInput)
    }

    /// Runs every call that can run now, batch by batch, while there is room for the replies: they may be
    /// a thousand times as large as the requests.
    async fn run_ready(&mut self) {
        while self.scan.is_none() && self.chain.fatal().is_none() && !self.outbox.is_full() {
            self.obey_waiting();
            let Some(batch) = self.queues.next_batch(self.chain.registry()) else { return };
            self.chain.set_queue_depth(self.queues.waiting());
            match batch {
                queues::Batch::Scan(call) => {
                    let mut outlet = ReplyOutlet(&mut self.outbox, &self.intake);
                    self.scan = self.chain.start_scan(call, &mut outlet).await;
                }
                queues::Batch::Calls { calls, acquired } => {
                    self.last_batch = calls.len();
                    let mut outlet = ReplyOutlet(&mut self.outbox, &self.intake);
                    let flights = self.chain.run(calls, &mut outlet).await;
                    for tool in acquired {
                        if !flights.iter().any(|flight| flight.tool() == tool) {
                            self.queues.locks.release(tool);
                        }
                    }
                    self.flights.extend(flights);
                }
            }
            self.outbox.flush_now();
            self.chain.store.upkeep();
        }
    }

    /// Decodes the complete lines there are: protocol methods are answered at once, calls queue up. What
    /// there is no room to answer stays undecoded.
    fn take_lines(&mut self) {
        while !self.outbox.is_full()
            && let Some(frame) = self.frames.next()
        {
            let inbound = self.intake.take(frame, self.outbox.buffer());
            self.dispatch_inbound(inbound);
        }
    }

    fn dispatch_inbound(&mut self, inbound: Inbound) {
        match inbound {
            Inbound::Answered => {}
            Inbound::Ignored(Some(warning)) => self.log(Level::Warn, &warning),
            Inbound::Ignored(None) => {}
            Inbound::Cancel(request_id) => self.cancel(&request_id),
            Inbound::Call(call) => self.admit(call),
        }
    }

    /// Queues a call where it belongs.
    fn admit(&mut self, call: Call) {
        if self.stopping {
            return self.unavailable(&call, "Server is shutting down");
        }
        let tool =
            self.chain.registry().lookup(&call.name).and_then(|index| self.chain.registry().get(index));
        if !self.chain.is_ready() {
            if tool.is_some_and(|tool| tool.storeless) && self.chain.may_answer_early() {
                self.queues.ready.push_back(call);
            } else if self.queues.waiting() >= WAITING_CALLS {
                self.unavailable(&call, "Server busy");
            } else {
                self.queues.gate.push_back(call);
            }
            return;
        }
        match tool {
            Some(tool) if tool.kind == Kind::Network => {
                if self.queues.waiting() >= WAITING_CALLS && !self.queues.locks.is_free(tool.name) {
                    self.unavailable(&call, "Server busy");
                } else {
                    self.queues.locks.enqueue(tool.name, call);
                }
            }
            _ => self.queues.ready.push_back(call),
        }
    }

    fn unavailable(&mut self, call: &Call, message: &str) {
        let line = encode_error(Some(&call.reply_to.id), UNAVAILABLE, message, None);
        self.outbox.push(&line);
    }

    /// A waiting call vanishes without a trace; a network call in flight is aborted when it is next polled;
    /// any other running call goes on.
    fn cancel(&mut self, request_id: &str) {
        if !self.queues.remove(request_id) {
            self.queues.cancelled.push(request_id.into());
        }
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
                Ok((store, kind)) => match self.chain.open(store, kind) {
                    Ok(()) => self.open_gate(),
                    Err(fault) => self.startup_failed(fault.to_string()),
                },
                Err(reason) => self.startup_failed(reason),
            },
        }
    }

    fn open_gate(&mut self) {
        for call in std::mem::take(&mut self.queues.gate) {
            self.admit(call);
        }
    }

    fn startup_failed(&mut self, reason: String) {
        self.reading = false;
        let waiting: Vec<Call> = self.queues.drain();
        for call in waiting {
            let Some(answer) = self.chain.startup_failure(&reason) else { continue };
            ReplyOutlet(&mut self.outbox, &self.intake).reply(Reply { to: call.reply_to, answer });
        }
        self.stopping = true;
        self.ended = Some(Finish::StartupFailed(reason));
    }

    /// Signals: what waits is refused, what runs may finish.
    fn stop(&mut self) {
        self.stopping = true;
        self.reading = false;
        for call in self.queues.drain() {
            self.unavailable(&call, "Server is shutting down");
        }
        self.ended.get_or_insert(Finish::Stopped);
    }

    /// Network calls own nothing and scans only read, so they need not be waited for: their rows stay open
    /// until a later start closes them (alpha §9.5).
    fn expire(&mut self) {
        self.flights.clear();
        if let Some(scan) = self.scan.take() {
            scan.interrupt.raise();
        }
        self.ended = Some(Finish::Forced);
    }

    fn client_gone(&mut self) {
        self.stopping = true;
        self.reading = false;
        drop(self.queues.drain());
        self.ended = Some(Finish::ClientGone);
    }

    fn end_of_input(&mut self) {
        let mut frames = std::mem::take(&mut self.frames);
        if let Some(frame) = frames.finish() {
            let inbound = self.intake.take(frame, self.outbox.buffer());
            self.dispatch_inbound(inbound);
        }
        self.reading = false;
    }

    async fn land(&mut self, index: usize, result: Option<std::thread::Result<Dispatched>>) {
        let flight = self.flights.remove(index);
        self.queues.locks.release(flight.tool());
        let mut outlet = ReplyOutlet(&mut self.outbox, &self.intake);
        match result {
            Some(result) => self.chain.land(flight, result, &mut outlet).await,
            None => self.chain.cancel(flight, &mut outlet).await,
        }
    }

    async fn land_scan(&mut self, result: std::thread::Result<Dispatched>) {
        let Some(scan) = self.scan.take() else { return };
        let mut outlet = ReplyOutlet(&mut self.outbox, &self.intake);
        self.chain.land_scan(scan, result, &mut outlet).await;
    }

    fn log(&self, level: Level, message: &str) {
        let kernel = self.chain.kernel();
        kernel.log.write(level, &kernel.redactor.redact(message));
    }
}

/// Encodes replies straight into the outbox.
struct ReplyOutlet<'a>(&'a mut Outbox, &'a Intake);

impl Outlet for ReplyOutlet<'_> {
    fn reply(&mut self, reply: Reply) {
        self.1.encode(self.0.buffer(), &reply);
    }

    fn flush(&mut self) {
        self.0.flush_now();
    }
}
