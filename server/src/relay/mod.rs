//! The loop between client and server: one thread reads both, writes the rows that wait, and passes on what may go.
//!
//! [`from_client`] and [`from_server`] take what was read, [`incoming`] and [`outgoing`] keep it in order while rows wait, [`rows`] writes
//! those, [`listing`] keeps to the server's tools, [`notes`] to what is learned of calls beside their outcomes, [`chatter`] copies its
//! stderr, [`streams`] waits for the next event, and [`ending`] says how it all ends. [`check`] asks
//! a server for its tools without any client.

mod chatter;
pub mod check;
pub mod child;
mod ending;
mod finish;
mod from_client;
mod from_server;
mod incoming;
mod listing;
mod notes;
mod outgoing;
mod rows;
mod streams;

pub use listing::{pin_of, stored_pin};

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use colibri_canonical::HexDigest;
use colibri_runtime::chain::foreign::{ForeignEnd, Ticket};
use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::note::About;
use colibri_runtime::chain::store::Store as _;
use colibri_runtime::handler::Dispatch;
use colibri_runtime::spec::ForeignCodes;
use colibri_runtime::wire::identity::Identities;
use colibri_runtime::wire::midline::Midline;
use colibri_runtime::wire::outbox::Outbox;
use colibri_runtime::wire::stdio::Streams;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::catalogue::CATALOGUE;
use crate::lifecycle::operation::Operator;
use crate::tools::cx::Cx;
use crate::wrap::flights::{Flights, Id, Ticket as Place};
use crate::wrap::lines::Lines;
use crate::wrap::listing::Asked;
use crate::wrap::name::Name;
use crate::wrap::pin::SeenList;
use crate::wrap::request::{Line, Requests, TaskRequest};
use crate::wrap::rounds::Continued;
use crate::wrap::scan::Message;
use crate::wrap::watch::Watch;
use chatter::Chatter;
use child::{Child, Started};

use ending::{Act, Ending};
use incoming::Incoming;
use notes::{Cancelled, First, Passed};
use outgoing::Outgoing;
use streams::{Alarm, Event, SignalStreams};

/// What a run is made of.
pub struct Run<'a, D: Dispatch<Cx>> {
    /// The database, with this process's chain.
    pub operator: &'a mut Operator<D>,
    /// The server's name.
    pub name: Name,
    /// The run's id in the log.
    pub run_id: String,
    /// What is known of the server's tools.
    pub watch: Watch,
    /// Where lines go.
    pub log: Arc<dyn Log>,
    /// Whether a reply is half written on a stdout that is also stderr.
    pub midline: Midline,
    /// The client's streams.
    pub client: Streams,
    /// The server.
    pub server: Started,
}

/// A request in flight.
#[derive(Debug)]
enum Flight {
    /// `tools/call`, whose row is open.
    Call(Box<Passed>),
    /// `tools/list`.
    Tools(Asked),
    /// `tools/list` of this process's own.
    OwnTools(Asked),
    /// `initialize`, with who asks.
    Initialize(Option<Box<str>>),
    /// `server/discover`.
    Discover,
    /// `subscriptions/listen`, which need never be answered.
    Listen,
    /// A request about a task.
    Task(TaskRequest),
    /// Any other.
    Other,
}

/// JSON-RPC's code for what went wrong inside.
const INTERNAL_ERROR: i32 = -32603;

/// What a run has done, for its last line.
#[derive(Debug, Default)]
struct Counts {
    calls: u64,
    refused: u64,
    aborted: u64,
    /// Messages of the server's that were dropped.
    dropped: u64,
}

/// A line with a call that waits for the list of tools.
#[derive(Debug)]
struct Aside {
    line: Line,
    until: Instant,
}

/// The loop's state.
pub struct Relay<'a, D: Dispatch<Cx>> {
    operator: &'a mut Operator<D>,
    codes: &'static ForeignCodes,
    name: Name,
    run_id: String,
    log: Arc<dyn Log>,
    watch: Watch,

    from_client: Option<Box<dyn tokio::io::AsyncRead + Unpin>>,
    to_client: Outbox,
    from_server: Option<pipe::Receiver>,
    to_server: Option<Outbox>,
    child: Child,
    ended: Option<oneshot::Receiver<()>>,
    chatter: Chatter,
    signals: SignalStreams,
    chunk: Vec<u8>,
    /// Whose turn it is to be read first.
    server_first: bool,

    requests: Requests,
    lines: Lines,
    incoming: Incoming,
    outgoing: Outgoing,
    aside: VecDeque<Aside>,
    /// Lines with an id whose request waits for its answer. They are refused then.
    held: Vec<Line>,
    /// Ids whose requests were given up. Their answers may still come.
    given_up: VecDeque<Id>,
    flights: Flights<Flight>,
    identities: Identities,
    /// Messages of the server's line that has not ended.
    messages: Vec<Message>,
    /// How many requests are in flight whose answers are looked at.
    looked_at: usize,
    /// Requests that the client has cancelled.
    cancelled: VecDeque<Cancelled>,
    /// Calls whose servers asked for input, by the hashes of their states.
    asked: Continued<HexDigest, First>,
    /// Calls that began tasks, by the tasks' ids.
    tasks: Continued<String, About>,
    /// Rows to close for which no message waits.
    closing: VecDeque<(Ticket, ForeignEnd)>,
    /// Lists to store.
    notes: VecDeque<SeenList>,
    /// Rows of the last two turns.
    last_turns: [usize; 2],
    /// When the turn to write was asked for, while another process holds it.
    turn_since: Option<Instant>,

    listing: listing::Own,
    drops: from_server::Drops,
    counts: Counts,
    ending: Ending,
    exited_at: Option<Instant>,
    /// When the server closed its output.
    closed_at: Option<Instant>,
    killed: bool,
    alarm: Option<Alarm>,
}

impl<'a, D: Dispatch<Cx>> Relay<'a, D> {
    /// Puts the loop together; nothing is read before [`Relay::run`]. Called inside a runtime.
    ///
    /// # Errors
    /// The server's pipes or the signal handlers cannot be used.
    pub fn new(run: Run<'a, D>) -> io::Result<Self> {
        let Run { operator, name, run_id, watch, log, midline, client, server } = run;
        let Started { child, input, output, errors, ended } = server;
        let codes = CATALOGUE
            .foreign
            .ok_or_else(|| io::Error::other("the catalogue has no codes for calls to other servers"))?;
        Ok(Self {
            operator,
            codes,
            name,
            run_id,
            log,
            watch,
            from_client: Some(client.reader),
            to_client: Outbox::new(client.writer),
            from_server: Some(pipe::Receiver::from_owned_fd(output)?),
            to_server: Some(Outbox::new(Box::new(pipe::Sender::from_owned_fd(input)?))),
            child,
            ended: Some(ended),
            chatter: Chatter::new(errors, midline)?,
            signals: SignalStreams::install()?,
            chunk: vec![0; streams::READ_BYTES],
            server_first: false,
            requests: Requests::default(),
            lines: Lines::default(),
            incoming: Incoming::default(),
            outgoing: Outgoing::default(),
            aside: VecDeque::new(),
            held: Vec::new(),
            given_up: VecDeque::new(),
            flights: Flights::default(),
            identities: Identities::default(),
            messages: Vec::new(),
            looked_at: 0,
            cancelled: VecDeque::new(),
            asked: Continued::default(),
            tasks: Continued::default(),
            closing: VecDeque::new(),
            notes: VecDeque::new(),
            last_turns: [0; 2],
            turn_since: None,
            listing: listing::Own::default(),
            drops: from_server::Drops::default(),
            counts: Counts::default(),
            ending: Ending::default(),
            exited_at: None,
            closed_at: None,
            killed: false,
            alarm: None,
        })
    }

    /// Passes messages on until the server or the client has ended, and returns the exit code.
    pub async fn run(mut self) -> u8 {
        loop {
            self.store_lists().await;
            self.gather().await;
            self.take_held();
            // What waits for no row does not wait for the sync either.
            self.release();
            self.flush_now();
            self.write_rows();
            if self.operator.chain().fatal().is_some() {
                // What was written may not be durable, so nothing more leaves.
                self.child.signal(rustix::process::Signal::KILL);
                return crate::lifecycle::exit::FAILURE;
            }
            self.release();
            self.flush_now();
            self.operator.chain().store.upkeep();
            if self.is_over() {
                return self.finish().await;
            }
            if self.can_write() || !self.notes.is_empty() {
                self.react_if_ready().await;
                continue;
            }
            let event = self.next_event().await;
            self.react(event);
        }
    }

    fn react(&mut self, event: Event) {
        match event {
            Event::Client(Ok(0)) => self.client_closed(),
            Event::Client(Ok(length)) => self.take_from_client(length),
            Event::Client(Err(error)) => {
                self.tell(Level::Warn, &format!("reading from the client failed, taken as its end: {error}"));
                self.client_closed();
            }
            Event::Server(Ok(length)) if length > 0 => self.take_from_server(length),
            Event::Server(_) => self.server_closed(),
            Event::ClientWritten(Ok(())) | Event::ServerWritten(Ok(())) | Event::Turn | Event::Chatter => {}
            Event::ClientWritten(Err(error)) => self.client_gone(&error),
            // A server that reads no more may still answer; it gets nothing more.
            Event::ServerWritten(Err(_)) => self.to_server = None,
            Event::Exited => self.exited(),
            Event::Signal(signal) => {
                let act = self.ending.signalled(signal, Instant::now());
                self.to_server = None;
                self.act(act);
            }
            Event::Alarm => self.ring(),
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Signal(signal) => self.child.signal(signal),
            Act::Kill => {
                self.killed |= self.exited_at.is_none();
                self.child.signal(rustix::process::Signal::KILL);
            }
        }
    }

    /// Writes a line about this server.
    fn tell(&self, level: Level, message: &str) {
        if self.log.enabled(level) {
            self.log.write(level, &format!("[wrap] {}: {message}", self.name));
        }
    }

    /// Notes a request that is in flight.
    fn begin(&mut self, id: Id, flight: Flight) {
        self.looked_at += usize::from(flight.is_looked_at());
        self.flights.begin(id, flight);
    }

    /// Takes a request out.
    fn end(&mut self, place: Place) -> Option<(Id, Flight)> {
        let ended = self.flights.end(place)?;
        self.looked_at -= usize::from(ended.1.is_looked_at());
        Some(ended)
    }

    /// Returns the row's name of a tool.
    fn row_name(&self, tool: &str) -> String {
        format!("{}/{tool}", self.name)
    }
}

impl Flight {
    /// Returns whether the whole answer is read, and parts of it may be cut.
    fn is_looked_at(&self) -> bool {
        let lists = matches!(self, Self::Tools(_) | Self::OwnTools(_));
        lists || matches!(self, Self::Initialize(_) | Self::Discover | Self::Task(_))
    }

    /// Returns whether the server may have done something for it. Nothing is asked for by a request that only greets or lists.
    fn may_take_effect(&self) -> bool {
        !self.is_looked_at() || matches!(self, Self::Task(_))
    }
}

/// Returns the hash of an answer of this process's own.
fn hash_of(text: &str) -> Option<String> {
    Some(HexDigest::of(text.as_bytes()).as_str().to_owned())
}
