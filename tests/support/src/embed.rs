//! A server inside the test: what a process cannot show is injected (streams, clock, sink, log), and a
//! client talks to it over a pair of in-memory streams.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use colibri::lifecycle::options::{AuditChoice, Options};
use colibri::lifecycle::server::Server;
use colibri::lifecycle::transport::Ready;
use colibri::settings::environment::Environment;
use colibri::tools::cx::{Cx, NetworkCx};
use colibri_runtime::chain::audit::{AuditSink, EnterEvent, ExitEvent, RowOutcome, SinkResult};
use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::handler::{Dispatch, Dispatched, NetworkCall, ScanCall};
use colibri_runtime::kernel::Clock;
use colibri_runtime::serve::Finish;
use colibri_runtime::wire::stdio::Streams;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use crate::client::{PATIENCE, envelope, response};
use crate::engine;

/// Bytes that may be under way in each direction.
const STREAM_BYTES: usize = 1 << 20;

/// The client's end of the streams.
pub struct Wire {
    to: DuplexStream,
    from: BufReader<DuplexStream>,
    next_id: u64,
}

impl Wire {
    /// Both ends.
    pub fn pair() -> (Self, Streams) {
        let (to, reader) = tokio::io::duplex(STREAM_BYTES);
        let (writer, from) = tokio::io::duplex(STREAM_BYTES);
        let wire = Self { to, from: BufReader::new(from), next_id: 0 };
        (wire, Streams { reader: Box::new(reader), writer: Box::new(writer) })
    }

    /// Writes a call under an id of its own, which is returned.
    pub async fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.next_id += 1;
        let params = json!({ "name": tool, "arguments": arguments });
        let line = json!({ "jsonrpc": "2.0", "id": self.next_id, "method": "tools/call", "params": params });
        self.to.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
        self.next_id
    }

    /// The next reply.
    pub async fn receive(&mut self) -> Value {
        let mut line = Vec::new();
        let read = self.from.read_until(b'\n', &mut line);
        tokio::time::timeout(PATIENCE, read).await.expect("an answer in time").expect("the stream works");
        response(&line)
    }

    /// Calls a tool; its envelope.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send_call(tool, arguments).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], json!(id), "{answer}");
        envelope(&answer)
    }
}

/// Runs a future as the process would: on one thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Options over one end of the streams, with a database in that folder and nothing from the environment.
pub fn options(streams: Streams, folder: &Path) -> Options {
    Options {
        environment: environment(folder),
        transport: Box::new(Ready::new(streams)),
        log: Some(Arc::new(Lines::default())),
        ..Options::default()
    }
}

/// Variables that put the database into that folder.
pub fn environment(folder: &Path) -> Environment {
    let (name, value) = engine::variable(&folder.join("colibri.db"));
    Environment::default().with(name, value)
}

/// Starts the server, lets the client talk, ends its input, and stops the server.
pub async fn converse<D: Dispatch<Cx>, T>(
    server: &mut Server<D>,
    mut wire: Wire,
    talk: impl AsyncFnOnce(&mut Wire) -> T,
) -> (T, Finish) {
    server.start().await.expect("the server starts");
    let client = async move {
        let told = talk(&mut wire).await;
        drop(wire);
        told
    };
    let (finish, told) = tokio::join!(server.run(), client);
    server.stop();
    (told, finish)
}

/// Time that stands still until it is set, in monotonic milliseconds.
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock at that time.
    pub fn at(ms: f64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(ms.to_bits())))
    }

    /// Moves it there.
    pub fn set(&self, ms: f64) {
        self.0.store(ms.to_bits(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn monotonic_ms(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::SeqCst))
    }
    fn wall_ms(&self) -> i64 {
        1_700_000_000_000
    }
}

/// A log in memory.
#[derive(Debug, Default)]
pub struct Lines(Mutex<Vec<(Level, String)>>);

impl Lines {
    /// What was written so far.
    pub fn taken(&self) -> Vec<(Level, String)> {
        self.0.lock().expect("the log").clone()
    }
}

impl Log for Lines {
    fn enabled(&self, _: Level) -> bool {
        true
    }
    fn write(&self, level: Level, message: &str) {
        self.0.lock().expect("the log").push((level, message.to_owned()));
    }
}

/// Counts the handlers that run, and does something of the test's before each.
pub struct Spy<D> {
    inner: D,
    ran: Rc<Cell<u32>>,
    before: Box<dyn FnMut()>,
}

impl<D> Spy<D> {
    /// In front of `inner`; the counter is shared.
    pub fn new(inner: D) -> (Self, Rc<Cell<u32>>) {
        let ran = Rc::new(Cell::new(0));
        (Self { inner, ran: ran.clone(), before: Box::new(|| {}) }, ran)
    }

    /// Does that before each handler.
    #[must_use]
    pub fn before(mut self, before: impl FnMut() + 'static) -> Self {
        self.before = Box::new(before);
        self
    }
}

impl<D: Dispatch<Cx>> Dispatch<Cx> for Spy<D> {
    fn call(&mut self, cx: &mut Cx, tool: usize, arguments: &Value) -> Dispatched {
        self.ran.set(self.ran.get() + 1);
        (self.before)();
        self.inner.call(cx, tool, arguments)
    }
    fn scan(&mut self, tool: usize, arguments: Value) -> ScanCall<Cx> {
        self.ran.set(self.ran.get() + 1);
        self.inner.scan(tool, arguments)
    }
    fn network(&mut self, cx: NetworkCx, tool: usize, arguments: Value) -> NetworkCall {
        self.ran.set(self.ran.get() + 1);
        self.inner.network(cx, tool, arguments)
    }
    // The operation that stores a caller is not the handler of a call.
    fn operate(&mut self, cx: &mut Cx, operation: usize, arguments: &Value) -> Dispatched {
        self.inner.operate(cx, operation, arguments)
    }
    fn rolled_back(&mut self) {
        self.inner.rolled_back();
    }
}

/// What a sink has seen.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen {
    /// An enter event: tool, arguments, correlation id.
    Enter(String, Value, String),
    /// An exit event.
    Exit {
        /// The tool.
        tool: String,
        /// The enter event's id.
        correlation_id: String,
        /// Whole milliseconds.
        duration_ms: i64,
        /// The payload.
        result: Option<Value>,
        /// Code and message.
        error: Option<(String, String)>,
        /// How the row would be closed.
        outcome: RowOutcome,
    },
}

/// A sink that remembers every event, fails when it is told to, and may be asynchronous. Clones share all.
#[derive(Clone, Default)]
pub struct Recorder {
    seen: Rc<RefCell<Vec<Seen>>>,
    /// How many of the next enter events fail.
    pub failing_enters: Rc<Cell<u32>>,
    /// How many of the next exit events fail.
    pub failing_exits: Rc<Cell<u32>>,
    asynchronous: bool,
}

impl Recorder {
    /// Its methods give back futures, or are done when they return.
    pub fn answering(asynchronous: bool) -> Self {
        Self { asynchronous, ..Self::default() }
    }

    /// For [`Options::audit`].
    pub fn choice(&self) -> AuditChoice {
        AuditChoice::Sink(Box::new(self.clone()))
    }

    /// The events so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    fn take<'a>(&'a self, event: Seen, failing: &Cell<u32>) -> SinkResult<'a> {
        let left = failing.get();
        failing.set(left.saturating_sub(1));
        let result = if left > 0 { Err("refused by test".to_owned()) } else { Ok(()) };
        if !self.asynchronous {
            self.seen.borrow_mut().push(event);
            return SinkResult::Ready(result);
        }
        SinkResult::Pending(Box::pin(async move {
            tokio::task::yield_now().await;
            self.seen.borrow_mut().push(event);
            result
        }))
    }
}

impl AuditSink for Recorder {
    fn enter<'a>(&'a mut self, event: &'a EnterEvent<'a>) -> SinkResult<'a> {
        let seen = Seen::Enter(event.tool.into(), event.args.clone(), event.correlation_id.into());
        self.take(seen, &self.failing_enters)
    }

    fn exit<'a>(&'a mut self, event: &'a ExitEvent<'a>) -> SinkResult<'a> {
        let seen = Seen::Exit {
            tool: event.tool.into(),
            correlation_id: event.correlation_id.into(),
            duration_ms: event.duration_ms,
            result: event.result.cloned(),
            error: event.error.map(|(code, message)| (code.into(), message.into())),
            outcome: event.outcome,
        };
        self.take(seen, &self.failing_exits)
    }
}
