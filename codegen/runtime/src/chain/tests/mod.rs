//! The chain over a store, handlers and sinks that fail on purpose.
//!
//! [`faults`] fails every step of the store, [`foreign`] does so with calls that another process handles, [`alone`] is about sinks outside it, [`beside`] about network and
//! scan tools, [`clients`] about who calls, [`gather`] about calls that wait for one another, [`lines`] about when lines are logged, [`notes`] about what is learned of calls in addition, [`turn`] about those that wait for other processes, [`operate`] about the operator's, [`owed`] about rows that come late or not at all, [`selection`] about what is offered, [`tables`] are the schemas of their tools, [`told`] about what comes beside results, [`words`] about what is said in the end.

#![allow(clippy::unwrap_used, clippy::panic, clippy::single_range_in_vec_init)]

mod alone;
mod at_once;
mod beside;
mod clients;
mod faults;
mod foreign;
mod gather;
mod lines;
mod notes;
mod operate;
mod owed;
mod postponed;
mod selection;
mod tables;
mod told;
mod turn;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll};

use serde_json::{Value, json};

use super::audit::{EnterEvent, ExitEvent};
use super::call::{Answer, Call, Reply, ReplyTo};
use super::client::{Client, Source};
use super::log::{Log, NoLog};
use super::redact::Redactor;
use super::registry::Registry;
use super::store::{Access, Store, StoreFault};
use super::{Audit, Chain, Kernel};
use crate::handler::{Dispatch, Dispatched, Fault, NetworkCall, ScanCall};
use crate::kernel::{Clock, SystemIds};
use crate::memory::{MemoryCx, MemoryStore};
use crate::progress::Progress;
use crate::remedy::Suggestion;
use crate::spec::{CatalogueSpec, Pattern, Profile, Relaxation, Runs, ToolSpec};
use tables::{ANY_NUMBER, ANYTHING, CODES, KEYED, NUMBER, STRICT};

type Data = Vec<String>;

const fn tool(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        domain: "test",
        toolset: None,
        pattern: Pattern::B,
        runs: Runs::Store { mutates: true },
        early: false,
        sensitive: &[],
        input: &ANYTHING,
        rules: &[],
        output: &ANYTHING,
        codes: &[],
        listing: "{}",
        relaxed: None,
    }
}

const CATALOGUE_HEAD: CatalogueSpec = CatalogueSpec {
    name: "test",
    title: "Test",
    version: "0.0.0",
    instructions: "",
    profile: Profile::House,
    toolsets: &[],
    announcements: &[],
    tools: &[],
    operations: &[],
    codes: CODES,
    foreign: None,
};

static CATALOGUE: CatalogueSpec = CatalogueSpec {
    tools: &[
        tool("keep"),
        tool("refuse"),
        tool("panic"),
        ToolSpec { runs: Runs::Network { at_a_time: 1 }, ..tool("network") },
        ToolSpec { runs: Runs::Scan, ..tool("scan") },
        ToolSpec { runs: Runs::Free { changes: false }, early: true, ..tool("early") },
        tool("domain"),
        ToolSpec { output: &NUMBER, ..tool("number") },
        tool("misfit"),
        ToolSpec { sensitive: &["key"], ..tool("secret") },
        ToolSpec { pattern: Pattern::A, ..tool("domain_a") },
        ToolSpec { input: &STRICT, ..tool("strict") },
        ToolSpec { pattern: Pattern::C, input: &KEYED, ..tool("flat") },
        ToolSpec { pattern: Pattern::Plain, input: &KEYED, ..tool("plain") },
        ToolSpec { runs: Runs::Free { changes: true }, ..tool("change") },
    ],
    operations: &[
        ToolSpec { runs: Runs::Operator { mutates: true }, listing: "", ..tool("inspect") },
        ToolSpec { runs: Runs::Operator { mutates: true }, listing: "", ..tool("import") },
        ToolSpec { runs: Runs::Operator { mutates: true }, listing: "", ..tool("introduce") },
        ToolSpec { runs: Runs::Operator { mutates: true }, listing: "", ..tool("note") },
    ],
    ..CATALOGUE_HEAD
};

/// Calls of a tool that every server admits, of one that a gate may refuse, and of none.
fn suggestions(key: &str) -> Vec<Suggestion> {
    let suggestion = |tool| Suggestion {
        tool,
        arguments: json!({ "key": key }).as_object().unwrap().clone(),
        ask: serde_json::Map::new(),
    };
    ["keep", "early", "nobody"].map(suggestion).to_vec()
}

/// `keep` adds its key; the others add it too, and then fail.
struct Handlers;

impl Dispatch<MemoryCx<Data>> for Handlers {
    fn call(&mut self, cx: &mut MemoryCx<Data>, tool: usize, arguments: &Value) -> Dispatched {
        let key = arguments["key"].as_str().unwrap().to_owned();
        let domain = |prefixed| Dispatched::Domain {
            code: "NO",
            message: key.clone(),
            prefixed,
            fields: json!({ "why": [key, { "again": key }, 1, null] }).as_object().unwrap().clone(),
            remedy: format!("leave {key} out"),
            next: suggestions(&key),
        };
        match tool {
            0 | 5 | 9 | 14 => {
                if tool == 0 || tool == 14 {
                    cx.data.push(key);
                    return Dispatched::Text("{}".to_owned());
                }
                if key == "refuse" {
                    cx.data.push(key);
                    return Dispatched::Fault(Fault::Other("as asked".to_owned()));
                }
                Dispatched::Value(json!({}))
            }
            1 => {
                cx.data.push(key);
                Dispatched::Fault(Fault::Storage("refused".to_owned()))
            }
            6 => domain(false),
            7 if key == "written" => Dispatched::Text(r#"{"n":null}"#.to_owned()),
            7 => Dispatched::Value(json!({ "n": f64::NAN })),
            8 if key == "written" => Dispatched::Text(r#""no object""#.to_owned()),
            8 => Dispatched::Value(json!("no object")),
            10 => domain(true),
            12 | 13 => match key.as_str() {
                "written" => Dispatched::Text(r#"{"b":1,"a":2}"#.to_owned()),
                "value" => Dispatched::Value(json!({ "b": 1, "a": 2 })),
                "refuse" => Dispatched::Fault(Fault::Storage("refused".to_owned())),
                _ => domain(true),
            },
            _ => {
                cx.data.push(key);
                panic!("as asked")
            }
        }
    }

    /// `import` keeps its key, unless it is `refuse`; `rehearse` tells it to keep nothing. `introduce` keeps a client.
    fn operate(&mut self, cx: &mut MemoryCx<Data>, operation: usize, arguments: &Value) -> Dispatched {
        if operation == 2 {
            let name = arguments["client_name"].as_str().or_else(|| arguments["source"].as_str()).unwrap();
            cx.data.push(format!("client {name}"));
            return match name {
                "refuse" => Dispatched::Fault(Fault::Storage("refused".to_owned())),
                _ => Dispatched::Value(json!({})),
            };
        }
        if operation == 3 {
            return notes::keep(cx, arguments);
        }
        assert_eq!(operation, 1, "the index among the operations");
        let key = arguments["key"].as_str().unwrap().to_owned();
        cx.data.push(key.clone());
        if arguments["rehearse"] == true {
            cx.rehearse();
        }
        match key.as_str() {
            "refuse" => Dispatched::Fault(Fault::Storage("refused".to_owned())),
            "panic" => panic!("as asked"),
            "nan" => Dispatched::Value(json!("no object")),
            _ => Dispatched::Value(json!({ "kept": cx.data.len() })),
        }
    }

    fn scan(&mut self, _: usize, arguments: Value) -> ScanCall<MemoryCx<Data>> {
        Box::new(move |data, interrupt| {
            assert_ne!(arguments["key"], "panic", "as asked");
            while arguments["key"] == "wait" && !interrupt.is_raised() {
                std::thread::yield_now();
            }
            Dispatched::Value(json!({ "rows": data.len() }))
        })
    }

    fn network(&mut self, (): (), _: usize, arguments: Value) -> NetworkCall {
        assert_ne!(arguments["key"], "early panic", "as asked");
        Box::pin(async move {
            assert_ne!(arguments["key"], "panic", "as asked");
            if arguments["key"] == "wait" {
                std::future::pending::<()>().await;
            }
            Dispatched::Value(json!({}))
        })
    }
}

/// How a step of the store fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// The step is refused, the transaction stays.
    Refuse,
    /// The engine drops the whole transaction, as SQLite does when the disk is full.
    Drop,
}

struct FaultyStore {
    inner: MemoryStore<Data>,
    step: usize,
    fails: Vec<std::ops::Range<usize>>,
    mode: Mode,
    begun: usize,
    synced: usize,
    sync_fails: bool,
    scan_fails: bool,
    /// Whose time a sync takes.
    clock: Option<Arc<gather::Stepping>>,
    upkept: usize,
    /// Statements are carried out at the commit, as across a network.
    postpones: bool,
    /// Who says whether the turn to write is another process's.
    world: Option<Arc<turn::World>>,
    /// Whether a transaction is open, for a log that looks.
    open: Arc<AtomicBool>,
}

impl FaultyStore {
    fn new(fails: &[std::ops::Range<usize>], mode: Mode) -> Self {
        Self {
            inner: MemoryStore::new(Vec::new()),
            step: 0,
            fails: fails.to_vec(),
            mode,
            begun: 0,
            synced: 0,
            sync_fails: false,
            scan_fails: false,
            clock: None,
            upkept: 0,
            postpones: false,
            world: None,
            open: Arc::default(),
        }
    }

    fn sound() -> Self {
        Self::new(&[], Mode::Refuse)
    }

    /// The next steps fail, that many of them.
    fn fail_next(&mut self, steps: usize) {
        self.fails = vec![self.step..self.step + steps];
    }

    fn is_held(&self) -> bool {
        self.world.as_ref().is_some_and(|world| world.held.load(std::sync::atomic::Ordering::SeqCst))
    }

    fn step(&mut self) -> Result<(), StoreFault> {
        self.step += 1;
        let step = self.step - 1;
        if !self.fails.iter().any(|range| range.contains(&step)) {
            return Ok(());
        }
        if self.mode == Mode::Drop {
            self.roll_back();
        }
        Err(StoreFault("the disk is full".to_owned()))
    }
}

impl Store for FaultyStore {
    type Cx = MemoryCx<Data>;

    fn cx(&mut self) -> &mut Self::Cx {
        self.inner.cx()
    }
    fn poll_turn(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), StoreFault>> {
        if !self.is_held() {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    fn begin(&mut self, access: Access) -> Result<(), StoreFault> {
        if self.is_held() {
            return Err(StoreFault("held by another".to_owned()));
        }
        assert!(!self.in_transaction(), "a transaction is open already");
        self.step()?;
        self.begun += 1;
        self.open.store(true, Ordering::SeqCst);
        self.inner.begin(access)
    }
    fn commit(&mut self) -> Result<(), StoreFault> {
        assert!(self.in_transaction(), "nothing to commit");
        if let Err(fault) = self.step() {
            self.roll_back();
            return Err(fault);
        }
        self.open.store(false, Ordering::SeqCst);
        self.inner.commit()
    }
    fn postpones(&self) -> bool {
        self.postpones
    }
    fn carry_out(&mut self) -> Result<(), StoreFault> {
        if self.postpones { self.step() } else { Ok(()) }
    }
    fn roll_back(&mut self) {
        self.open.store(false, Ordering::SeqCst);
        self.inner.roll_back();
    }
    fn in_transaction(&self) -> bool {
        // The engine dropped it under the handler.
        self.inner.in_transaction() && self.inner.data().last().is_none_or(|key| key != "lose")
    }
    fn leave_queue(&mut self) {}
    fn savepoint(&mut self) -> Result<(), StoreFault> {
        assert!(self.in_transaction(), "a savepoint outside a transaction commits by itself");
        self.step()?;
        self.inner.savepoint()
    }
    fn release(&mut self) -> Result<(), StoreFault> {
        self.step()?;
        self.inner.release()
    }
    fn roll_back_to_savepoint(&mut self) -> Result<(), StoreFault> {
        self.step()?;
        self.inner.roll_back_to_savepoint()
    }
    fn sync(&mut self) -> Result<(), StoreFault> {
        self.synced += 1;
        if let Some(clock) = &self.clock {
            clock.pass_a_sync();
        }
        if self.sync_fails { Err(StoreFault("the disk is gone".to_owned())) } else { Ok(()) }
    }
    fn upkeep(&mut self) {
        self.upkept += 1;
        self.inner.upkeep();
    }
    fn audit_enter(&mut self, event: &EnterEvent<'_>) -> Result<i64, StoreFault> {
        self.step()?;
        self.inner.audit_enter(event)
    }
    fn audit_exit(
        &mut self,
        sequence_no: i64,
        enter: &EnterEvent<'_>,
        exit: &ExitEvent<'_>,
    ) -> Result<(), StoreFault> {
        self.step()?;
        self.inner.audit_exit(sequence_no, enter, exit)
    }

    fn audit_is_open(&mut self, sequence_no: i64) -> Result<bool, StoreFault> {
        self.inner.audit_is_open(sequence_no)
    }
    fn scan_cx(&mut self) -> Result<Data, StoreFault> {
        if self.scan_fails {
            Err(StoreFault("no second connection".to_owned()))
        } else {
            self.inner.scan_cx()
        }
    }
}

/// A clock that stands still: how a batch is cut into transactions must not depend on the machine, which
/// may take long over printing a panic's backtrace.
struct Stopped;

impl Clock for Stopped {
    fn monotonic_ms(&self) -> f64 {
        0.0
    }
    fn wall_ms(&self) -> i64 {
        0
    }
}

fn chain(store: FaultyStore) -> Chain<FaultyStore, Handlers> {
    chain_with(store, Audit::Store { kind: "memory" })
}

/// With a secret that must not come out.
fn chain_with(store: FaultyStore, audit: Audit) -> Chain<FaultyStore, Handlers> {
    chain_over(store, audit, Arc::new(Stopped), Arc::new(NoLog))
}

fn chain_over(
    store: FaultyStore,
    audit: Audit,
    clock: Arc<dyn Clock>,
    log: Arc<dyn Log>,
) -> Chain<FaultyStore, Handlers> {
    let kernel = Kernel {
        clock,
        ids: Box::new(SystemIds::default()),
        log,
        redactor: Redactor::new(["hunter2hunter2".to_owned(), "hunter2hunter2hunter2".to_owned()]),
    };
    let registry = Registry::of(&CATALOGUE).unwrap();
    Chain::new(registry, store, Handlers, audit, kernel)
}

fn keyed(tool: &str, key: &str) -> Call {
    Call { arguments: json!({ "key": key }).into(), ..call(1, tool) }
}

fn envelope(reply: &Reply) -> Value {
    match &reply.answer {
        Answer::Tool { envelope, .. } | Answer::Failure { text: envelope } => {
            serde_json::from_str(envelope).unwrap()
        }
        Answer::UnknownTool { data, .. } => serde_json::from_str(data).unwrap(),
    }
}

/// The message of the only reply's error.
fn message(replies: &[Reply]) -> String {
    assert_eq!(replies.len(), 1);
    envelope(&replies[0])["error"]["message"].as_str().unwrap().to_owned()
}

/// How the stored rows ended; `None` for open ones.
fn outcomes(chain: &Chain<FaultyStore, Handlers>) -> Vec<Option<&'static str>> {
    chain.store.inner.rows().map(|row| row.outcome.map(super::audit::RowOutcome::as_str)).collect()
}

fn call(id: usize, tool: &str) -> Call {
    let progress = Progress::default();
    Call {
        reply_to: ReplyTo { id: id.to_string().into(), stateless: false, member: None, progress },
        name: tool.to_owned(),
        arguments: json!({ "key": id.to_string() }).into(),
        args_hash: None,
        trace_context: None,
        client: Arc::new(Client::unnamed(Source::None)),
        bytes: 10,
        since_ms: 0.0,
        unreadable: None,
    }
}

fn succeeded(reply: &Reply) -> bool {
    matches!(&reply.answer, Answer::Tool { is_error: false, .. })
}

async fn run(chain: &mut Chain<FaultyStore, Handlers>, calls: Vec<Call>) -> Vec<Reply> {
    let mut replies = Vec::new();
    chain.run(calls, &mut replies).await;
    replies
}
