//! A relay that does in few lines what `colibri wrap` does, and makes one mistake on request. It is the control of the tests that break
//! `colibri wrap`: what finds nothing there must notice each mistake here, and must find nothing when the relay makes none.
//!
//! ```text
//! careless-relay --name NAME --fault FAULT -- COMMAND…
//! ```
//!
//! FAULT is `none` or a mistake, see [`Fault`]. The database and its durability are those of the environment. The relay records as `colibri
//! wrap` does, through the chain of a process of its own, but does its syncs by itself, so that it can leave one out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use colibri::Options;
use colibri::catalogue::{CATALOGUE, Dispatcher, ToolId};
use colibri::lifecycle::operation::Operator;
use colibri::settings::environment::Environment;
use colibri::tools::Domains;
use colibri_canonical::sha256_hex;
use colibri_runtime::chain::TURN_LIMIT;
use colibri_runtime::chain::audit::RowOutcome;
use colibri_runtime::chain::client::{Client, Source};
use colibri_runtime::chain::foreign::{Exchanged, ForeignCall, ForeignEnd, Ticket};
use colibri_runtime::chain::store::Store as _;
use colibri_runtime::progress::Progress;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// Longer lines of the server's are passed on as they come.
const HOLD_BYTES: usize = 64 * 1024;
/// How long rows come too late, so that a few kills meet the time between.
const LATE: Duration = Duration::from_millis(5);

/// What the relay does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fault {
    /// Nothing.
    None,
    /// Rows are written after what they are about was passed on.
    LateRows,
    /// Replies are passed on between the commit of their rows and the sync.
    EarlyReplies,
    /// No sync covers the rows of calls before those are passed on.
    NoEnterSync,
    /// No sync covers the rows of replies before those are passed on.
    NoExitSync,
    /// Ids are compared as JavaScript's `Number()` reads them.
    LooseIds,
    /// A byte of each short reply is another one.
    ChangedByte,
    /// The server's group is not ended, and the server not bound to the relay's life.
    LooseGroup,
    /// Long replies are passed on at their end.
    HeldReplies,
}

enum Event {
    Client(Vec<u8>),
    ClientEnd,
    Server(Vec<u8>),
    ServerEnd,
}

/// The members of a message that a relay looks at.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    name: &'a str,
}

struct Relay {
    operator: Operator<Dispatcher<Domains>>,
    name: String,
    fault: Fault,
    /// What is synced; `None` with durability `normal`.
    wal: Option<PathBuf>,
    /// Requests in flight: ids as written, and the open rows of calls.
    flights: Vec<(String, Option<Ticket>)>,
    /// The server's line that has not ended, and how much of it has left.
    line: Vec<u8>,
    left: usize,
}

/// Relays until the server has ended.
pub fn run(arguments: &[String]) {
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name);
        arguments[at.expect("the option is there") + 1].clone()
    };
    let dashes = arguments.iter().position(|argument| argument == "--").expect("a command behind --");
    let fault: Fault = serde_json::from_value(json!(option("--fault"))).expect("a fault");
    let mut relay = Relay::open(option("--name"), fault);
    let mut child = start(&arguments[dashes + 1..], fault);
    let group = Pid::from_child(&child);
    let mut input = child.stdin.take();
    for event in events(&mut child) {
        match event {
            Event::Client(line) => relay.take_from_client(&line, input.as_mut().expect("it is open")),
            Event::ClientEnd => input = None,
            Event::Server(bytes) => relay.take_from_server(&bytes),
            Event::ServerEnd => break,
        }
    }
    if fault != Fault::LooseGroup {
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait().expect("a child");
    relay.fail_flights();
    drop(relay);
    // The thread that reads the client may be waiting for it.
    std::process::exit(0);
}

/// Starts the server as `colibri wrap` does: in a group of its own, and to be killed with its parent.
fn start(command: &[String], fault: Fault) -> Child {
    let mut child = match fault {
        Fault::LooseGroup => Command::new(&command[0]),
        _ => Command::new(std::env::current_exe().unwrap().with_file_name("colibri-under-test")),
    };
    match fault {
        Fault::LooseGroup => child.args(&command[1..]),
        _ => child.arg("wrap-exec").arg(std::process::id().to_string()).arg("--").args(command),
    };
    child.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts")
}

/// Reads both sides in threads of their own. The end of a killed server's output may be kept from coming by a process that it has
/// left behind, so its own end counts, too.
fn events(child: &mut Child) -> Receiver<Event> {
    let (sender, events) = channel();
    let (to_loop, mut output) = (sender.clone(), child.stdout.take().expect("a pipe"));
    std::thread::spawn(move || {
        let mut chunk = vec![0; HOLD_BYTES];
        while let Ok(length @ 1..) = output.read(&mut chunk) {
            let _ = to_loop.send(Event::Server(chunk[..length].to_vec()));
        }
        let _ = to_loop.send(Event::ServerEnd);
    });
    watch(child, sender.clone());
    std::thread::spawn(move || {
        let mut input = BufReader::new(std::io::stdin());
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let _ = sender.send(Event::Client(std::mem::take(&mut line)));
        }
        let _ = sender.send(Event::ClientEnd);
    });
    events
}

/// Tells when the server's process has become a zombie, a moment later.
fn watch(child: &Child, sender: Sender<Event>) {
    let stat = PathBuf::from(format!("/proc/{}/stat", child.id()));
    std::thread::spawn(move || {
        let lives = || {
            let text = std::fs::read_to_string(&stat).unwrap_or_default();
            text.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(" Z"))
        };
        while lives() {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(200));
        let _ = sender.send(Event::ServerEnd);
    });
}

impl Relay {
    fn open(name: String, fault: Fault) -> Self {
        let environment = Environment::capture();
        let database = PathBuf::from(environment.get("COLIBRI_DB_PATH").ok().flatten().expect("a database"));
        let synced = environment.get("COLIBRI_DURABILITY").ok().flatten() != Some("normal");
        let wal = synced.then(|| PathBuf::from(format!("{}-wal", database.display())));
        let environment = environment.with("COLIBRI_DURABILITY", "normal").with("COLIBRI_LOG_LEVEL", "warn");
        let options = Options { environment, ..Options::default() };
        let mut operator = Operator::open(Dispatcher(Domains::default()), options).expect("the database");
        let input = json!({ "name": name, "program": "odd-server", "command_hash": sha256_hex(b"[]"),
            "pin": "off", "read_only": false, "allow": [], "deny": [] });
        let begun = operator.call(ToolId::WrapBegin, input, Progress::default()).expect("an envelope");
        assert_eq!(begun["ok"], true, "{begun}");
        Self { operator, name, fault, wal, flights: Vec::new(), line: Vec::new(), left: 0 }
    }

    fn exchange(
        &mut self,
        exits: Vec<(Ticket, ForeignEnd)>,
        calls: Vec<(ForeignCall, Option<ForeignEnd>)>,
    ) -> Exchanged {
        let chain = self.operator.chain();
        let _ = chain.store.wait_turn(TURN_LIMIT);
        chain.exchange(exits, calls)
    }

    fn sync(&self) {
        if let Some(wal) = &self.wal {
            File::open(wal).and_then(|file| file.sync_data()).expect("the log syncs");
            let folder = wal.parent().expect("a folder");
            File::open(folder).and_then(|folder| folder.sync_all()).expect("the folder syncs");
        }
    }

    fn take_from_client(&mut self, line: &[u8], server: &mut ChildStdin) {
        let message: Message<'_> = serde_json::from_slice(line).expect("clients of tests write JSON");
        let (Some(id), Some(method)) = (message.id, message.method) else { return forward(server, line) };
        if method != "tools/call" {
            self.flights.push((id.get().to_owned(), None));
            return forward(server, line);
        }
        if self.fault == Fault::LateRows {
            forward(server, line);
            std::thread::sleep(LATE);
        }
        let params = message.params.expect("a call has parameters").get();
        let call = ForeignCall {
            tool: format!(
                "{}/{}",
                self.name,
                serde_json::from_str::<Params<'_>>(params).expect("a name").name
            ),
            request_id: id.get().into(),
            args_hash: sha256_hex(params.as_bytes()),
            trace_context: None,
            client: Arc::new(Client::unnamed(Source::None)),
        };
        let ticket = self.exchange(Vec::new(), vec![(call, None)]).calls.remove(0).expect("the row");
        if self.fault != Fault::NoEnterSync {
            self.sync();
        }
        self.flights.push((id.get().to_owned(), ticket));
        if self.fault != Fault::LateRows {
            forward(server, line);
        }
    }

    fn take_from_server(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let (line, left) = (std::mem::take(&mut self.line), std::mem::take(&mut self.left));
                self.take_line(line, left);
            } else if self.line.len() > HOLD_BYTES && self.fault != Fault::HeldReplies {
                // All but the byte that may end the value.
                let until = self.line.len() - 1;
                say(&self.line[self.left..until]);
                self.left = until;
            }
        }
    }

    /// A line of the server's, of which so many bytes have left.
    fn take_line(&mut self, mut line: Vec<u8>, left: usize) {
        if self.fault == Fault::ChangedByte && left == 0 {
            let text = b"\"text\":\"";
            if let Some(at) = line.windows(text.len()).position(|window| window == text) {
                line[at + text.len()] = b'*';
            }
        }
        let Ok(Message { id: Some(id), method: None, result, error, .. }) = serde_json::from_slice(&line)
        else {
            return say(&line[left..]);
        };
        let Some(at) = self.flights.iter().position(|(asked, _)| self.is_same(asked, id.get())) else {
            // Nothing waits for it. What has left already must be unreadable.
            return if left > 0 {
                say(b"\n")
            };
        };
        let value = result.or(error).expect("an answer").get();
        let result_hash = Some(sha256_hex(value.as_bytes()));
        let end = ForeignEnd { outcome: RowOutcome::Ok, code: None, message: None, result_hash };
        let (_, ticket) = self.flights.remove(at);
        let Some(ticket) = ticket else { return say(&line[left..]) };
        if self.fault == Fault::LateRows {
            say(&line[left..]);
            std::thread::sleep(LATE);
        }
        self.exchange(vec![(ticket, end)], Vec::new()).exits.remove(0).expect("the row");
        if self.fault == Fault::EarlyReplies {
            say(&line[left..]);
        }
        if self.fault != Fault::NoExitSync {
            self.sync();
        }
        if !matches!(self.fault, Fault::LateRows | Fault::EarlyReplies) {
            say(&line[left..]);
        }
    }

    fn is_same(&self, asked: &str, answered: &str) -> bool {
        asked == answered || (self.fault == Fault::LooseIds && number(asked) == number(answered))
    }

    /// Closes what the server leaves open, and answers it.
    fn fail_flights(&mut self) {
        if self.left > 0 {
            say(b"\n");
        }
        let code = CATALOGUE.foreign.map(|codes| codes.server_ended.code);
        for (id, ticket) in std::mem::take(&mut self.flights) {
            if let Some(ticket) = ticket {
                let message = Some("the server ended".to_owned());
                let end = ForeignEnd { outcome: RowOutcome::Aborted, code, message, result_hash: None };
                self.exchange(vec![(ticket, end)], Vec::new()).exits.remove(0).expect("the row");
                self.sync();
            }
            let error = json!({ "code": -32603, "message": "the server ended", "data": { "code": code } });
            say(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n").as_bytes());
        }
    }
}

/// What JavaScript's `Number()` makes of an id.
fn number(id: &str) -> Option<f64> {
    let text = serde_json::from_str::<String>(id).unwrap_or_else(|_| id.to_owned());
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f64::from),
        None => text.parse().ok(),
    }
}

fn forward(server: &mut ChildStdin, line: &[u8]) {
    // The server may have ended.
    let _ = server.write_all(line).and_then(|()| server.flush());
}

fn say(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    // The client may have gone.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
