//! The chain over a store that fails at every step there is: whatever fails, each call is whole or not
//! there, says so, and leaves no transaction open.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use serde_json::{Value, json};

use super::audit::{EnterEvent, ExitEvent, RowOutcome};
use super::call::{Answer, Call, Reply, ReplyTo};
use super::log::NoLog;
use super::redact::Redactor;
use super::registry::Registry;
use super::store::{Access, Store, StoreFault};
use super::{Audit, Chain, Kernel};
use crate::handler::{Dispatch, Dispatched, Fault, NetworkCall, ScanCall};
use crate::kernel::{Clock, SystemIds};
use crate::memory::{MemoryCx, MemoryStore};
use crate::schema::{Additional, ObjectRule, Schema, Shape};
use crate::spec::{CatalogueSpec, ChainCodes, Kind, Pattern, ToolSpec};

type Data = Vec<String>;

static ANYTHING: Schema = Schema {
    shape: Shape::Object(&ObjectRule { properties: &[], additional: Additional::Open }),
    nullable: false,
    message: None,
};

const fn tool(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        domain: "test",
        pattern: Pattern::B,
        kind: Kind::Store,
        mutates: true,
        storeless: false,
        sensitive: &[],
        input: &ANYTHING,
        rules: &[],
        output: &ANYTHING,
        codes: &[],
        listing: "{}",
    }
}

static CATALOGUE: CatalogueSpec = CatalogueSpec {
    name: "test",
    title: "Test",
    version: "0.0.0",
    instructions: "",
    tools: &[tool("keep"), tool("refuse"), tool("panic")],
    codes: ChainCodes {
        invalid_params: "INVALID",
        handler_error: "FAILED",
        audit_enter_failed: "NOT_ENTERED",
        not_admitted: "DENIED",
        unknown_tool: "UNKNOWN",
        process_aborted: "DIED",
        cancelled: "WITHDRAWN",
        storage_failure: "STORAGE",
        store_commit_failed: "UNCOMMITTED",
        startup_failed: "STARTUP",
    },
};

/// `keep` adds its key; the others add it too, and then fail.
struct Handlers;

impl Dispatch<MemoryCx<Data>> for Handlers {
    fn call(&mut self, cx: &mut MemoryCx<Data>, tool: usize, arguments: &Value) -> Dispatched {
        cx.data.push(arguments["key"].as_str().unwrap().to_owned());
        match tool {
            0 => Dispatched::Value(json!({})),
            1 => Dispatched::Fault(Fault::Other("refused".to_owned())),
            _ => panic!("as asked"),
        }
    }

    fn scan(&mut self, _: usize, _: Value) -> ScanCall<MemoryCx<Data>> {
        Box::new(|_, _| Dispatched::Value(json!({})))
    }

    fn network(&mut self, _: usize, _: Value) -> NetworkCall {
        Box::pin(std::future::ready(Dispatched::Value(json!({}))))
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
    fails: std::ops::Range<usize>,
    mode: Mode,
    begun: usize,
    synced: usize,
}

impl FaultyStore {
    fn new(fails: std::ops::Range<usize>, mode: Mode) -> Self {
        Self { inner: MemoryStore::new(Vec::new()), step: 0, fails, mode, begun: 0, synced: 0 }
    }

    fn step(&mut self) -> Result<(), StoreFault> {
        self.step += 1;
        if !self.fails.contains(&(self.step - 1)) {
            return Ok(());
        }
        if self.mode == Mode::Drop {
            self.inner.roll_back();
        }
        Err(StoreFault("the disk is full".to_owned()))
    }
}

impl Store for FaultyStore {
    type Cx = MemoryCx<Data>;

    fn cx(&mut self) -> &mut Self::Cx {
        self.inner.cx()
    }
    fn begin(&mut self, access: Access) -> Result<(), StoreFault> {
        assert!(!self.in_transaction(), "a transaction is open already");
        self.step()?;
        self.begun += 1;
        self.inner.begin(access)
    }
    fn commit(&mut self) -> Result<(), StoreFault> {
        assert!(self.in_transaction(), "nothing to commit");
        if let Err(fault) = self.step() {
            self.inner.roll_back();
            return Err(fault);
        }
        self.inner.commit()
    }
    fn roll_back(&mut self) {
        self.inner.roll_back();
    }
    fn in_transaction(&self) -> bool {
        self.inner.in_transaction()
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
        Ok(())
    }
    fn audit_enter(&mut self, event: &EnterEvent<'_>) -> Result<i64, StoreFault> {
        self.step()?;
        self.inner.audit_enter(event)
    }
    fn audit_exit(&mut self, sequence_no: i64, event: &ExitEvent<'_>) -> Result<(), StoreFault> {
        self.step()?;
        self.inner.audit_exit(sequence_no, event)
    }
    fn scan_cx(&mut self) -> Result<Data, StoreFault> {
        self.inner.scan_cx()
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
    let kernel = Kernel {
        clock: Arc::new(Stopped),
        ids: Box::new(SystemIds::default()),
        log: Arc::new(NoLog),
        redactor: Redactor::default(),
    };
    let registry = Registry::of(&CATALOGUE).unwrap();
    Chain::new(registry, store, Handlers, Audit::Store { kind: "memory" }, kernel)
}

fn call(id: usize, tool: &str) -> Call {
    Call {
        reply_to: ReplyTo { id: id.to_string().into(), stateless: false },
        name: tool.to_owned(),
        arguments: json!({ "key": id.to_string() }),
        trace_context: None,
        bytes: 10,
    }
}

/// Three good calls among two that fail by themselves and one that nobody knows.
fn batch() -> Vec<Call> {
    ["keep", "refuse", "keep", "nobody", "panic", "keep"]
        .iter()
        .enumerate()
        .map(|(id, tool)| call(id, tool))
        .collect()
}

fn succeeded(reply: &Reply) -> bool {
    matches!(&reply.answer, Answer::Tool { is_error: false, .. })
}

async fn run(chain: &mut Chain<FaultyStore, Handlers>, calls: Vec<Call>) -> Vec<Reply> {
    let mut replies = Vec::new();
    chain.run(calls, &mut replies).await;
    replies
}

/// Every acknowledged effect is there, no other is, and the rows say the same.
fn assert_whole_or_not_there(case: &str, chain: &Chain<FaultyStore, Handlers>, replies: &[Reply]) {
    let store = &chain.store;
    let acknowledged: Vec<String> =
        replies.iter().filter(|reply| succeeded(reply)).map(|reply| reply.to.id.to_string()).collect();
    assert_eq!(store.inner.data(), &acknowledged, "{case}");
    assert!(!store.in_transaction(), "{case}: a transaction is left open");
    let stored = store.inner.rows().filter(|row| row.outcome == Some(RowOutcome::Ok)).count();
    assert_eq!(stored, acknowledged.len(), "{case}");
}

#[tokio::test]
async fn whatever_step_of_the_store_fails_each_call_is_whole_or_not_there() {
    let mut clean = chain(FaultyStore::new(0..0, Mode::Refuse));
    assert_eq!(run(&mut clean, batch()).await.iter().filter(|reply| succeeded(reply)).count(), 3);
    let steps = clean.store.step;
    assert!(steps > 20, "{steps}");
    for mode in [Mode::Refuse, Mode::Drop] {
        for first in 0..steps {
            for length in [1, 2, 3, steps] {
                let case = format!("{mode:?} at steps {first}..{}", first + length);
                let mut chain = chain(FaultyStore::new(first..first + length, mode));
                let replies = run(&mut chain, batch()).await;
                let order: Vec<&str> = replies.iter().map(|reply| &*reply.to.id).collect();
                assert_eq!(order, ["0", "1", "2", "3", "4", "5"], "{case}");
                assert_whole_or_not_there(&case, &chain, &replies);
                assert!(chain.store.synced > 0, "{case}: replies left before a sync");
            }
        }
    }
}

#[tokio::test]
async fn rows_left_open_by_a_failed_commit_are_closed_by_the_next_batch() {
    let mut clean = chain(FaultyStore::new(0..0, Mode::Refuse));
    run(&mut clean, batch()).await;
    let last_commit = clean.store.step - 1;
    let mut chain = chain(FaultyStore::new(last_commit..last_commit + 1, Mode::Refuse));
    let replies = run(&mut chain, batch()).await;
    assert_eq!(replies.iter().filter(|reply| succeeded(reply)).count(), 0);
    assert_eq!(chain.store.inner.rows().filter(|row| row.outcome.is_none()).count(), 6);
    let replies = run(&mut chain, vec![call(9, "keep")]).await;
    assert!(succeeded(&replies[0]));
    assert_eq!(chain.store.inner.rows().filter(|row| row.outcome.is_none()).count(), 0);
    let codes: Vec<_> =
        chain.store.inner.rows().map(|row| row.error_code.clone().unwrap_or_default()).collect();
    assert_eq!(codes, ["UNCOMMITTED", "FAILED", "UNCOMMITTED", "UNKNOWN", "FAILED", "UNCOMMITTED", ""]);
}

#[tokio::test]
async fn a_batch_takes_two_transactions_and_one_sync() {
    let mut chain = chain(FaultyStore::new(0..0, Mode::Refuse));
    let calls = (0..64).map(|id| call(id, "keep")).collect();
    assert_eq!(run(&mut chain, calls).await.len(), 64);
    assert_eq!(chain.store.begun, 2);
    assert_eq!(chain.store.synced, 1);
}
