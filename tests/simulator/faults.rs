//! What goes wrong on purpose, between the chain and the real store and between the chain and the real handlers.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::rc::Rc;

use colibri::tools::cx::{Cx, NetworkCx, Parts};
use colibri_runtime::chain::audit::{EnterEvent, ExitEvent};
use colibri_runtime::chain::store::{Access, Store, StoreFault};
use colibri_runtime::handler::{Context, Dispatch, Dispatched, Fault, NetworkCall, ScanCall};
use colibri_store::ServerStore;
use serde_json::{Value, json};

/// The process has died: what unwinds its stack.
pub struct Crash;

/// How an operation of the store fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is refused, and nothing of it is done.
    Refuse,
    /// The engine drops the transaction by itself, as SQLite does when the disk is full.
    Drop,
    /// The process dies before it.
    CrashBefore,
    /// The process dies after it.
    CrashAfter,
    /// It is done and reported as failed, if it is a commit; otherwise it is refused.
    Unclear,
}

/// Which operations of the store fail, counted from the moment of arming.
#[derive(Debug, Clone, Copy)]
pub struct StorePlan {
    pub first: u64,
    pub length: u64,
    pub kind: Kind,
}

/// How a handler fails after it has done its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerKind {
    Fail,
    Panic,
    /// The process dies before the chain takes note.
    Crash,
    /// The engine has dropped the transaction, and the handler has not noticed.
    Drop,
    /// The same, and it has.
    DropAndFail,
}

/// A defect of the store, to show that the model finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    None,
    /// Effects are reported as committed and rolled back.
    AcknowledgeWithoutCommit,
    /// What a failed call has done stays.
    KeepEffectsOfFailures,
    /// Calls are answered although their rows are never closed.
    LoseExitRows,
}

/// What scheduler and store of one process tell each other.
pub struct Control {
    defect: Defect,
    store: Cell<Option<StorePlan>>,
    handler: Cell<Option<(u64, HandlerKind)>>,
    operations: Cell<u64>,
    handled: Cell<u64>,
    /// Something has failed on purpose since the arming.
    fired: Cell<bool>,
    /// A commit was reported as failed and is there.
    unclear: Cell<bool>,
    /// The same at any time.
    confused: Cell<bool>,
    /// Commits that no sync has followed yet.
    unsynced: Cell<bool>,
    sync_failed: Cell<bool>,
    dying: Cell<bool>,
    /// Lets other processes run.
    pause: Box<dyn Fn()>,
}

impl Control {
    pub fn new(defect: Defect, pause: Box<dyn Fn()>) -> Rc<Self> {
        Rc::new(Self {
            defect,
            store: Cell::new(None),
            handler: Cell::new(None),
            operations: Cell::new(0),
            handled: Cell::new(0),
            fired: Cell::new(false),
            unclear: Cell::new(false),
            confused: Cell::new(false),
            unsynced: Cell::new(false),
            sync_failed: Cell::new(false),
            dying: Cell::new(false),
            pause,
        })
    }

    pub fn arm(&self, store: Option<StorePlan>, handler: Option<(u64, HandlerKind)>) {
        self.store.set(store);
        self.handler.set(handler);
        self.operations.set(0);
        self.handled.set(0);
        self.fired.set(false);
        self.unclear.set(false);
    }

    pub fn has_fired(&self) -> bool {
        self.fired.get()
    }

    pub fn was_unclear(&self) -> bool {
        self.unclear.get()
    }

    /// Some of its rows may be in the file although it was told otherwise, and stay open until it ends.
    pub fn is_confused(&self) -> bool {
        self.confused.get()
    }

    pub fn is_unsynced(&self) -> bool {
        self.unsynced.get()
    }

    pub fn has_sync_failed(&self) -> bool {
        self.sync_failed.get()
    }

    fn crash(&self) -> ! {
        self.fired.set(true);
        resume_unwind(Box::new(Crash))
    }

    /// Counts an operation; how it is to fail.
    fn due(&self) -> Option<Kind> {
        if self.dying.get() {
            self.crash();
        }
        let number = self.operations.get();
        self.operations.set(number + 1);
        let plan = self.store.get()?;
        let due = (plan.first..plan.first + plan.length).contains(&number);
        due.then(|| {
            self.fired.set(true);
            plan.kind
        })
    }
}

fn fault() -> StoreFault {
    StoreFault("refused by the simulator".to_owned())
}

/// The real store, which does not always get to do what it is asked for.
pub struct FaultyStore {
    pub inner: ServerStore<Parts>,
    pub control: Rc<Control>,
    writing: bool,
    exits: bool,
}

impl FaultyStore {
    pub fn new(inner: ServerStore<Parts>, control: Rc<Control>) -> Self {
        Self { inner, control, writing: false, exits: false }
    }

    /// Behind the store's back, as the engine does it.
    fn drop_transaction(&mut self) {
        drop_transaction(self.inner.cx());
    }

    fn operation<T>(
        &mut self,
        run: impl FnOnce(&mut ServerStore<Parts>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        match self.control.due() {
            None => run(&mut self.inner),
            Some(Kind::CrashBefore) => self.control.crash(),
            Some(Kind::CrashAfter) => {
                drop(run(&mut self.inner));
                self.control.crash()
            }
            Some(Kind::Drop) => {
                self.drop_transaction();
                Err(fault())
            }
            Some(Kind::Refuse | Kind::Unclear) => Err(fault()),
        }
    }

    /// An operation that cannot be refused.
    fn surely(&mut self, run: impl FnOnce(&mut ServerStore<Parts>)) {
        match self.control.due() {
            Some(Kind::CrashBefore) => self.control.crash(),
            Some(Kind::CrashAfter) => {
                run(&mut self.inner);
                self.control.crash()
            }
            _ => run(&mut self.inner),
        }
    }

    fn commit_really(&mut self) -> Result<(), StoreFault> {
        if self.exits && self.control.defect == Defect::AcknowledgeWithoutCommit {
            self.inner.roll_back();
            return Ok(());
        }
        self.inner.commit()?;
        if self.writing {
            self.control.unsynced.set(true);
        }
        Ok(())
    }

    fn pause(&self) {
        if !self.inner.in_transaction() {
            (self.control.pause)();
        }
    }
}

fn drop_transaction(cx: &mut Cx) {
    if let Ok(db) = cx.db() {
        // There may be none, and then there is nothing to do.
        let _ = db.execute("ROLLBACK", &[]);
    }
}

impl Store for FaultyStore {
    type Cx = Cx;

    fn cx(&mut self) -> &mut Cx {
        self.inner.cx()
    }

    fn begin(&mut self, access: Access) -> Result<(), StoreFault> {
        self.pause();
        (self.writing, self.exits) = (access != Access::Read, false);
        self.operation(|inner| inner.begin(access))
    }

    fn commit(&mut self) -> Result<(), StoreFault> {
        match self.control.due() {
            None => self.commit_really(),
            Some(Kind::CrashBefore) => self.control.crash(),
            Some(Kind::CrashAfter) => {
                drop(self.commit_really());
                self.control.crash()
            }
            Some(Kind::Refuse | Kind::Drop) => {
                self.inner.roll_back();
                Err(fault())
            }
            Some(Kind::Unclear) => {
                self.commit_really()?;
                self.control.unclear.set(true);
                self.control.confused.set(true);
                Err(fault())
            }
        }
    }

    fn roll_back(&mut self) {
        self.surely(Store::roll_back);
    }

    fn in_transaction(&self) -> bool {
        if self.control.dying.get() {
            self.control.crash();
        }
        self.inner.in_transaction()
    }

    fn leave_queue(&mut self) {
        self.surely(Store::leave_queue);
    }

    fn savepoint(&mut self) -> Result<(), StoreFault> {
        self.operation(Store::savepoint)
    }

    fn release(&mut self) -> Result<(), StoreFault> {
        self.operation(Store::release)
    }

    fn roll_back_to_savepoint(&mut self) -> Result<(), StoreFault> {
        if self.control.defect == Defect::KeepEffectsOfFailures {
            return Ok(());
        }
        self.operation(Store::roll_back_to_savepoint)
    }

    fn sync(&mut self) -> Result<(), StoreFault> {
        self.pause();
        let synced = self.operation(Store::sync);
        match &synced {
            Ok(()) => self.control.unsynced.set(false),
            Err(_) => self.control.sync_failed.set(true),
        }
        synced
    }

    fn audit_enter(&mut self, event: &EnterEvent<'_>) -> Result<i64, StoreFault> {
        self.operation(|inner| inner.audit_enter(event))
    }

    fn audit_exit(
        &mut self,
        sequence_no: i64,
        enter: &EnterEvent<'_>,
        exit: &ExitEvent<'_>,
    ) -> Result<(), StoreFault> {
        self.exits = true;
        if self.control.defect == Defect::LoseExitRows {
            return Ok(());
        }
        self.operation(|inner| inner.audit_exit(sequence_no, enter, exit))
    }

    fn audit_is_open(&mut self, sequence_no: i64) -> Result<bool, StoreFault> {
        self.operation(|inner| inner.audit_is_open(sequence_no))
    }

    fn upkeep(&mut self) {
        self.inner.upkeep();
    }

    fn scan_cx(&mut self) -> Result<<Cx as Context>::Scan, StoreFault> {
        self.operation(Store::scan_cx)
    }
}

/// The real handlers, which sometimes fail when all is done. The outside world is a model that answers at once.
pub struct FaultyDispatch<D> {
    pub inner: D,
    pub control: Rc<Control>,
}

impl<D: Dispatch<Cx>> Dispatch<Cx> for FaultyDispatch<D> {
    fn call(&mut self, cx: &mut Cx, tool: usize, arguments: &Value) -> Dispatched {
        let done = self.inner.call(cx, tool, arguments);
        let number = self.control.handled.get();
        self.control.handled.set(number + 1);
        let Some((at, kind)) = self.control.handler.get() else { return done };
        if at != number {
            return done;
        }
        self.control.fired.set(true);
        let failed = || Dispatched::Fault(Fault::Storage("refused by the simulator".to_owned()));
        match kind {
            HandlerKind::Fail => failed(),
            HandlerKind::Panic => resume_unwind(Box::new("as the simulator wants it")),
            HandlerKind::Crash => {
                self.control.dying.set(true);
                done
            }
            HandlerKind::Drop => {
                drop_transaction(cx);
                done
            }
            HandlerKind::DropAndFail => {
                drop_transaction(cx);
                failed()
            }
        }
    }

    fn scan(&mut self, tool: usize, arguments: Value) -> ScanCall<Cx> {
        self.inner.scan(tool, arguments)
    }

    fn network(&mut self, _: NetworkCx, _: usize, _: Value) -> NetworkCall {
        let answer = json!({
            "model": "claude", "content": "pong", "finishReason": "end_turn", "promptTokens": 1,
            "completionTokens": 1, "latencyMs": 5, "costUsd": 0.25, "modelsAttempted": ["claude"],
        });
        Box::pin(std::future::ready(Dispatched::Value(answer)))
    }

    fn operate(&mut self, cx: &mut Cx, operation: usize, arguments: &Value) -> Dispatched {
        self.inner.operate(cx, operation, arguments)
    }

    fn rolled_back(&mut self) {
        self.inner.rolled_back();
    }
}
