//! The five-stage call chain (chain#stages, chain#two-transactions).
//!
//! In the order in which a call meets them: [`call`] what comes in, [`selection`], [`admission`] and [`check`] stages 1
//! and 2, [`prepared`] a batch before its turn to write, [`batch`] and [`single`] the two ways through stages 3 to 5,
//! [`row`], [`audit`] and [`enter`] stage 3, [`dispatch`] and [`ending`] stage 4, [`effects`] stages 4 and 5 of one call,
//! [`answer`] the sync and the replies, [`owed`] rows that are written late, [`network`] and [`scan`] the calls that run beside
//! the loop. [`note`] stores what is learned about a call beside its outcome, and [`foreign`] writes the rows of calls that another process handles.
//!
//! The stages themselves are private, so that every call goes through the chain (chain#one-way-in).
//!
//! ```compile_fail,E0603
//! use colibri_runtime::chain::batch;
//! ```
//! ```compile_fail,E0603
//! use colibri_runtime::chain::dispatch;
//! ```
//! ```compile_fail,E0624
//! fn reach_around<S: colibri_runtime::chain::store::Store, D: colibri_runtime::handler::Dispatch<S::Cx>>(
//!     chain: &mut colibri_runtime::chain::Chain<S, D>,
//!     call: colibri_runtime::chain::call::Call,
//! ) {
//!     chain.check(call);
//! }
//! ```

pub mod admission;
mod answer;
pub mod audit;
mod batch;
pub mod call;
mod check;
pub mod client;
mod dispatch;
mod effects;
pub mod ending;
mod enter;
pub mod envelope;
pub mod foreign;
pub mod log;
pub mod network;
pub mod note;
mod owed;
pub mod prepared;
pub mod redact;
pub mod registry;
mod row;
pub mod scan;
pub mod selection;
mod single;
mod sizes;
pub mod store;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use audit::AuditSink;
use call::{Call, Outlet, ReplyTo};
use client::Introductions;
use ending::Ending;
use log::{Level, Log};
use owed::Unclosed;
use prepared::{Calls, Prepared};
use redact::Redactor;
use registry::Registry;
use row::Row;
use selection::Selection;
use store::{Access, Store, StoreFault};

use crate::handler::{CallStatus, Context, Dispatch};
use crate::kernel::{Clock, Ids};
use crate::progress::Notify;
use crate::spec::{CatalogueSpec, ToolSpec};

pub use scan::Interrupt;
pub use sizes::BatchSizes;

/// The longest an exit transaction stays open while further calls of its batch wait (chain#batches).
pub(crate) const LONGEST_EXIT_TRANSACTION_MS: f64 = 100.0;
/// The longest a call waits for its turn to write, which another process may hold, before it fails.
pub const TURN_LIMIT: Duration = Duration::from_secs(5);
/// A longer wait for the turn exceeds ordinary contention. The log then says who holds it, and calls that need no
/// store are answered without it.
pub(crate) const TURN_GRACE: Duration = Duration::from_millis(500);
/// How many calls may be answered before their rows can be written: in the first phase (chain#two-phases), and while
/// another process holds the turn to write.
pub(crate) const BUFFERED_CALLS: usize = 256;
/// How many characters of a called name the audit row keeps (chain#limits).
pub(crate) const AUDITED_NAME_CHARACTERS: usize = 128;
/// How many characters of a handler's message reach the client (chain#failure-codes).
pub(crate) const HANDLER_MESSAGE_CHARACTERS: usize = 8192;
/// How many characters of a message the audit row keeps (chain#failure-codes).
pub(crate) const STORED_MESSAGE_CHARACTERS: usize = 500;

/// Where audit events go.
pub enum Audit {
    /// Kept until the store is open; then [`Chain::open`] writes them in order.
    Buffer,
    /// Rows in the store, inside its transactions.
    Store {
        /// The word a health report shows for it.
        kind: &'static str,
    },
    /// A sink outside the store: calls go through one by one.
    Sink(Box<dyn AuditSink>),
}

impl Audit {
    /// Returns the word a health report shows for it.
    fn kind(&self) -> &'static str {
        match self {
            Self::Buffer => "buffer",
            Self::Store { kind } => kind,
            Self::Sink(sink) => sink.kind(),
        }
    }

    /// Returns whether events are rows of the store.
    fn is_store(&self) -> bool {
        matches!(self, Self::Store { .. })
    }

    /// Returns whether events go to a sink outside the store.
    fn is_sink(&self) -> bool {
        matches!(self, Self::Sink(_))
    }

    /// Returns the number of the call that runs now, given that of its row in the store.
    fn number(&self, row: Option<i64>) -> Option<i64> {
        match self {
            Self::Sink(sink) => sink.last_sequence_no(),
            _ => row,
        }
    }
}

/// What the chain takes from outside, so that a test can replay any run.
pub struct Kernel {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Correlation ids.
    pub ids: Box<dyn Ids>,
    /// Where log lines go.
    pub log: Arc<dyn Log>,
    /// The texts that must never leave the process.
    pub redactor: Redactor,
}

/// The chain: everything between a decoded call and its reply.
pub struct Chain<S: Store, D> {
    spec: &'static CatalogueSpec,
    registry: Registry,
    /// The store behind the handlers.
    pub store: S,
    /// The way to the handlers.
    pub dispatch: D,
    audit: Audit,
    access: Access,
    kernel: Kernel,
    /// Sends what a handler on this thread reports.
    notify: Option<Notify>,
    admission: Vec<Box<dyn admission::Admission>>,
    selection: Selection,
    buffered: Vec<Unclosed>,
    /// Calls that are entered and wait for their next turn to write.
    rest: VecDeque<row::Entered>,
    unclosed: Vec<Unclosed>,
    exit_failures: u64,
    ready: bool,
    answers_early: bool,
    queue_depth: usize,
    sizes: BatchSizes,
    /// How long the last sync took, in milliseconds.
    sync_ms: f64,
    /// How long the last commit took whose sync is still to come, in milliseconds, where the engine waits in it.
    commit_ms: f64,
    fatal: Option<StoreFault>,
    introductions: Introductions,
    note_names: Option<note::NoteNames>,
    notes: VecDeque<note::Note>,
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Builds a chain whose gate is still closed.
    pub fn new(registry: Registry, store: S, dispatch: D, audit: Audit, kernel: Kernel) -> Self {
        Self {
            spec: registry.catalogue(),
            registry,
            store,
            dispatch,
            audit,
            access: Access::Write,
            kernel,
            notify: None,
            admission: Vec::new(),
            selection: Selection::All,
            buffered: Vec::new(),
            rest: VecDeque::new(),
            unclosed: Vec::new(),
            exit_failures: 0,
            ready: false,
            answers_early: true,
            queue_depth: 0,
            sizes: BatchSizes::default(),
            sync_ms: 0.0,
            commit_ms: 0.0,
            fatal: None,
            introductions: Introductions::default(),
            note_names: None,
            notes: VecDeque::new(),
        }
    }

    /// Adds a check to stage 1.
    pub fn add_admission(&mut self, check: Box<dyn admission::Admission>) {
        self.admission.push(check);
    }

    /// Sets what the operator offers. It decides what clients are shown; a check of stage 1 refuses calls of other tools.
    pub fn set_selection(&mut self, selection: Selection) {
        self.selection = selection;
    }

    /// Returns what the operator offers.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Sets how a handler's report leaves while the handler keeps the loop from looking.
    pub(crate) fn set_notify(&mut self, notify: Notify) {
        self.notify = Some(notify);
    }

    /// Sets the operation that stores who calls. From then on the first call of each new [`client::Client`] is preceded by a call
    /// of it, where the log is in the store.
    pub fn set_introduction(&mut self, operation: &'static str) {
        self.introductions.operation = Some(operation);
    }

    /// Sets whether handlers only read; then their transactions take no write lock.
    pub fn set_access(&mut self, access: Access) {
        self.access = access;
    }

    /// Returns the tools and their names.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Marks that the server starts: from now on no tool can be registered.
    pub fn seal_registry(&mut self) {
        self.registry.start();
    }

    /// Returns the clock, ids, log and redactor.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Returns whether the gate is open.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready
    }

    /// Returns why the process must end: a sync failed, and what it covered may not be durable.
    pub fn fatal(&self) -> Option<&str> {
        self.fatal.as_ref().map(|reason| reason.0.as_str())
    }

    /// Opens a transaction. After a failed sync it opens none, because it could not be made durable.
    fn begin(&mut self, access: Access) -> Result<(), StoreFault> {
        match &self.fatal {
            Some(reason) => Err(reason.clone()),
            None => {
                self.store.begin(access)?;
                self.kernel.log.hold();
                Ok(())
            }
        }
    }

    /// Commits the open transaction. After a failure it is to be rolled back.
    fn commit(&mut self) -> Result<(), StoreFault> {
        self.store.commit()?;
        self.kernel.log.release();
        Ok(())
    }

    /// Rolls back what is open, if anything is.
    fn roll_back(&mut self) {
        self.store.roll_back();
        self.kernel.log.release();
    }

    /// Returns how long the last sync took, in milliseconds; about 0 where nothing is synced.
    pub fn sync_ms(&self) -> f64 {
        self.sync_ms
    }

    /// Returns how large the batches were.
    pub fn batch_sizes(&self) -> BatchSizes {
        self.sizes
    }

    /// Sets how many calls wait outside; the context's [`CallStatus`] shows it.
    pub(crate) fn set_queue_depth(&mut self, depth: usize) {
        self.queue_depth = depth;
    }

    /// Returns the tools that clients see, in registration order.
    pub fn listed(&self) -> impl Iterator<Item = &'static ToolSpec> {
        let shown = |tool: &&'static ToolSpec| self.admission.iter().all(|check| check.lists(tool));
        self.registry.tools().iter().copied().filter(|tool| self.selection.holds(tool)).filter(shown)
    }

    /// Sets whether calls of early tools may be answered before the gate opens; they are by default.
    pub fn set_answers_early(&mut self, answers: bool) {
        self.answers_early = answers;
    }

    /// Returns whether calls of early tools are answered before the gate opens.
    pub fn answers_early(&self) -> bool {
        self.answers_early && self.may_answer_early()
    }

    /// Opens the gate: takes the store that the second phase has made ready, and writes the calls
    /// answered so far into it.
    ///
    /// # Errors
    /// The buffered rows could not be written or synced; the gate stays closed.
    pub fn open(&mut self, store: S, kind: &'static str) -> Result<(), StoreFault> {
        self.store = store;
        if matches!(self.audit, Audit::Buffer) {
            let owed = self.has_buffered();
            let written = self.flush_buffer();
            if written.is_err() {
                self.roll_back();
            }
            self.store.leave_queue();
            written?;
            if owed {
                // Their replies have left, so no client waits for anything more.
                self.sync();
                if let Some(reason) = &self.fatal {
                    return Err(reason.clone());
                }
            }
            self.audit = Audit::Store { kind };
        }
        self.ready = true;
        Ok(())
    }

    /// Runs stages 1 and 2 of a batch before its turn to write, so that other processes need not wait for them.
    pub(crate) fn check_batch(&mut self, calls: Vec<Call>) -> Prepared {
        self.sizes.count(calls.len());
        let checked = calls.into_iter().map(|call| self.check(call)).collect();
        self.past_check(checked)
    }

    /// Runs the further stages of a batch, in arrival order, with the turn to write. Network calls whose lock is free are
    /// entered with it and come back as flights to be polled beside the loop. Calls that do not fit into the turn wait for
    /// [`Chain::resume`].
    pub(crate) async fn run_prepared(
        &mut self,
        batch: Prepared,
        outlet: &mut dyn Outlet,
    ) -> Vec<network::Flight> {
        match batch.0 {
            Calls::Together(entered) => self.run_batch(entered, outlet),
            Calls::Singly(checked) => self.run_singly(checked, outlet).await,
        }
    }

    /// Runs one batch through all five stages.
    pub async fn run(&mut self, calls: Vec<Call>, outlet: &mut dyn Outlet) -> Vec<network::Flight> {
        let batch = self.check_batch(calls);
        let flights = self.run_prepared(batch, outlet).await;
        self.run_rest(outlet);
        flights
    }

    /// Runs the calls that are entered, and waits on this thread for each turn.
    fn run_rest(&mut self, outlet: &mut dyn Outlet) {
        while self.has_rest() {
            // Without the turn, running reports what is in the way.
            let _ = self.store.wait_turn(TURN_LIMIT);
            self.resume(outlet);
        }
    }

    /// Runs one call of the operator's through the same five stages, in a batch of its own. If a client calls the same
    /// name, the tool is unknown ([`Chain::run`]).
    pub async fn operate(&mut self, call: Call, outlet: &mut dyn Outlet) {
        let checked = vec![self.check_operation(call)];
        let batch = self.past_check(checked);
        // No client is served beside an operation, so it may wait here. Without the turn, the operation itself reports what is
        // in the way.
        let _ = self.store.wait_turn(TURN_LIMIT);
        // An operation runs in the store's transaction, so there is nothing to wait for beside the chain.
        drop(self.run_prepared(batch, outlet).await);
        self.run_rest(outlet);
    }

    /// Returns the answer to a call of that name, which waited for a second phase that failed.
    pub(crate) fn startup_failure(&self, called: &str, reason: &str) -> Option<call::Answer> {
        self.words(called).startup_failed(reason).answer
    }

    /// Hands the context what the call that begins now reports to.
    fn watch(&mut self, to: &ReplyTo) {
        to.progress.run();
        self.store.cx().watch(to.progress.clone());
    }

    fn status(&self, sequence_no: Option<i64>) -> CallStatus {
        CallStatus {
            sequence_no: self.audit.number(sequence_no),
            entered_ms: None,
            ready: self.ready,
            audit_sink: self.audit.kind(),
            exit_failures: self.exit_failures,
            queue_depth: self.queue_depth,
        }
    }

    fn log(&self, level: Level, message: std::fmt::Arguments<'_>) {
        if self.kernel.log.enabled(level) {
            self.kernel.log.write(level, &self.kernel.redactor.redact(&message.to_string()));
        }
    }

    /// Logs one line per ended call (chain#audit-sinks).
    fn log_exit(&self, row: &Row, ending: &Ending) {
        let level = if self.audit.is_sink() { Level::Info } else { Level::Debug };
        if !self.kernel.log.enabled(level) {
            return;
        }
        let number = self.audit.number(row.sequence_no);
        self.log(
            level,
            format_args!(
                "[audit] seq={} tool={} outcome={} code={} duration_ms={} correlation={} client={}",
                number.map_or_else(|| "-".to_owned(), |n| n.to_string()),
                row.tool,
                ending.outcome.as_str(),
                ending.error_code.as_deref().unwrap_or("-"),
                ending.duration_ms,
                row.correlation_id,
                row.client
            ),
        );
    }

    fn now_text(&self) -> String {
        crate::kernel::rfc3339_ms(self.kernel.clock.wall_ms())
    }
}
