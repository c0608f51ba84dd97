//! A simulated server process: the real chain, store and handlers, put together as the server's second phase does it.

use colibri_store::params;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use colibri::catalogue::{CATALOGUE, Dispatcher, NoteKind, ToolId};
use colibri::domains::callers::Observed;
use colibri::domains::system::facts::{DatabaseState, DatabaseStatus, Phase, SystemFacts};
use colibri::migrations::MIGRATIONS;
use colibri::settings::config::Config;
use colibri::tools::Domains;
use colibri::tools::cx::{Cx, Parts};
use colibri_runtime::chain::call::{Call, Outlet, Reply};
use colibri_runtime::chain::log::NoLog;
use colibri_runtime::chain::network::Flight;
use colibri_runtime::chain::note::Withdrawal;
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::registry::Registry;
use colibri_runtime::chain::scan::ScanFlight;
use colibri_runtime::chain::store::Store;
use colibri_runtime::chain::{Audit, Chain, Kernel};
use colibri_runtime::kernel::{Clock, rfc3339_ms};
use colibri_store::AuditFacts;
use colibri_store::ServerStore;
use colibri_store::sqlite::open::process::boot_id;
use colibri_store::sqlite::open::{StoreOptions, WAIT, init_db};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::faults::{Control, Crash, FaultyDispatch, FaultyStore};
use crate::history::Said;
use crate::kernel::{Issued, SimClock, SimIds};

/// What a process is made of besides its own code.
pub struct Machine<'a> {
    pub path: &'a Path,
    pub clock: &'a Arc<SimClock>,
    /// Whether syncs reach the disk; they cost more than everything else.
    pub durable: bool,
}

/// A process that lives.
pub struct Process {
    pub boot: String,
    pub chain: Chain<FaultyStore, FaultyDispatch<Dispatcher<Domains>>>,
    pub control: Rc<Control>,
    issued: Issued,
    /// The network call that is out, and where it is in the history.
    pub flight: Option<(Flight, usize)>,
    /// The long read that runs, and where it is in the history.
    pub scan: Option<(ScanFlight, usize)>,
    /// Its file may not grow.
    pub limited: bool,
}

/// How far a process has come with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Alive,
    Dead,
}

impl Process {
    /// Runs the first phase: the process answers, and has no database yet.
    pub fn start(machine: &Machine<'_>, seed: u64, control: Rc<Control>) -> Self {
        let clock: Arc<dyn Clock> = machine.clock.clone();
        let (mut ids, issued) = (SimIds::new(seed), Issued::default());
        let boot = boot_id(None, &mut ids);
        let store = ServerStore::new(context(machine, seed ^ 1, Phase::Phase1), facts(String::new()));
        let kernel = Kernel {
            clock,
            ids: Box::new(SimIds::noted(seed ^ 2, issued.clone())),
            log: Arc::new(NoLog),
            redactor: Redactor::new(Vec::new()),
        };
        let registry = Registry::of(&CATALOGUE).unwrap();
        let store = FaultyStore::new(store, control.clone());
        let dispatch = FaultyDispatch { inner: Dispatcher(Domains::default()), control: control.clone() };
        let mut chain = Chain::new(registry, store, dispatch, Audit::Buffer, kernel);
        chain.set_introduction(ToolId::CallerBegin.name());
        chain.set_notes(ToolId::CallNote.name(), NoteKind::Withdrawn.as_str());
        Self { boot, chain, control, issued, flight: None, scan: None, limited: false }
    }

    /// Runs the second phase up to the open database; the calls so far are not written yet.
    pub fn open(&self, machine: &Machine<'_>, seed: u64) -> Result<FaultyStore, String> {
        let options = StoreOptions {
            path: machine.path.to_owned(),
            read_only: false,
            sync: machine.durable,
            boot_id: self.boot.clone(),
            process_aborted: CATALOGUE.codes.process_aborted.code,
            now: rfc3339_ms(machine.clock.wall_ms()),
            migrations: MIGRATIONS,
            tail_checks: &[],
            max_pages: None,
            wait: WAIT,
        };
        let opened = init_db(&options).map_err(|error| error.to_string())?;
        let mut store = ServerStore::new(context(machine, seed ^ 3, Phase::Phase2), facts(self.boot.clone()));
        store.attach(opened).map_err(|fault| fault.0)?;
        Ok(FaultyStore::new(store, self.control.clone()))
    }

    /// Does something that the process may not survive.
    pub fn live(&mut self, work: impl FnOnce(&mut Self)) -> Life {
        match catch_unwind(AssertUnwindSafe(|| work(self))) {
            Ok(()) => Life::Alive,
            Err(payload) if payload.is::<Crash>() => Life::Dead,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Returns the correlation ids issued after the first `before`.
    pub fn issued_since(&self, before: usize) -> Vec<String> {
        self.issued.lock().unwrap()[before..].to_vec()
    }

    pub fn issued(&self) -> usize {
        self.issued.lock().unwrap().len()
    }

    /// Runs a batch, and returns the network call that has started with it, if any.
    pub fn run(&mut self, calls: Vec<Call>, outlet: &mut dyn Outlet) -> Option<Flight> {
        let mut flights = ready(self.chain.run(calls, outlet));
        assert!(flights.len() <= 1, "one network call at a time was asked for");
        flights.pop()
    }

    /// A call of the operator's.
    pub fn operate(&mut self, call: Call, outlet: &mut dyn Outlet) {
        ready(self.chain.operate(call, outlet));
    }

    /// Returns how many of its calls are open in the log.
    pub fn open_rows(&mut self) -> Result<i64, String> {
        let boot = self.boot.clone();
        let db = self.chain.store.inner.cx().db().map_err(|fault| fault.to_string())?;
        let sql = "SELECT count(*) FROM actions WHERE outcome = 'running' AND boot_id = ?1";
        db.query_one(sql, params![boot], |row| row.get(0)).map_err(|fault| fault.to_string())
    }

    /// Ends the network call in flight.
    pub fn land(&mut self, flight: Flight, cancelled: bool, outlet: &mut dyn Outlet) {
        let mut flight = flight;
        if cancelled {
            return ready(self.chain.cancel(flight, outlet));
        }
        let Poll::Ready(result) = flight.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("the outside world answers at once")
        };
        ready(self.chain.land(flight, result, outlet));
    }

    /// Starts a long read.
    pub fn start_scan(&mut self, call: Call, outlet: &mut dyn Outlet) -> Option<ScanFlight> {
        ready(self.chain.start_scan(call, outlet))
    }

    /// Notes that the client has withdrawn the long read, which goes on.
    pub fn note_withdrawn(&mut self, scan: &ScanFlight) {
        if let Some(about) = scan.about() {
            let withdrawal = Withdrawal { at: "2026-11-27T10:00:00.000Z".to_owned(), reason_hash: None };
            self.chain.note_withdrawn(about, &withdrawal);
            self.chain.write_notes();
        }
    }

    /// Ends the long read.
    pub fn land_scan(&mut self, mut scan: ScanFlight, outlet: &mut dyn Outlet) {
        let (_, never) = tokio::sync::oneshot::channel();
        let result = std::mem::replace(&mut scan.done, never).blocking_recv().expect("the thread ends well");
        ready(self.chain.land_scan(scan, result, outlet));
    }

    /// Lets the file grow by so many pages from now on, or without limit. The engine drops transactions by itself
    /// when it finds no room.
    pub fn limit(&mut self, pages: Option<i64>) -> Result<(), String> {
        let number = |sql: &str, cx: &mut Cx| {
            let db = cx.db().map_err(|fault| fault.to_string())?;
            db.query_one(sql, &[], |row| row.get::<i64>(0)).map_err(|fault| fault.to_string())
        };
        let cx = self.chain.store.inner.cx();
        let most = match pages {
            Some(more) => number("PRAGMA page_count", cx)? + more,
            None => 1 << 30,
        };
        number(&format!("PRAGMA max_page_count = {most}"), cx)?;
        self.limited = pages.is_some();
        Ok(())
    }

    /// A clean stop.
    pub fn stop(mut self) -> Result<(), String> {
        self.give_up_scan();
        self.chain.close_pending();
        self.chain.store.inner.close().map_err(|fault| fault.0)
    }

    /// Leaves what a kill leaves behind: a locked file that is free now, a log that no process has folded, rows that are open.
    pub fn kill(mut self, path: &Path) {
        self.give_up_scan();
        let anchor = Anchor::of(path);
        drop(self);
        drop(anchor);
    }

    /// Its thread must not outlive the process.
    fn give_up_scan(&mut self) {
        if let Some((scan, _)) = self.scan.take() {
            scan.interrupt.raise();
            // The scan may have answered or not; its receiver is gone.
            let _ = scan.done.blocking_recv();
        }
    }
}

/// A connection that keeps SQLite from tidying up when the last other one is dropped, because a dead process does not
/// tidy up: the log stays, and its next reader recovers it.
struct Anchor {
    _conn: Connection,
}

impl Anchor {
    fn of(path: &Path) -> Self {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).unwrap();
        Self { _conn: conn }
    }
}

fn context(machine: &Machine<'_>, seed: u64, phase: Phase) -> Cx {
    let facts = SystemFacts {
        version: "0.0.0".to_owned(),
        boot_start_ms: 0.0,
        phase,
        database: DatabaseState {
            status: DatabaseStatus::Open,
            path: None,
            read_only: false,
            latest_schema_version: MIGRATIONS.len() as u32,
        },
        tool_count: CATALOGUE.tools.len(),
        admitted_tool_count: CATALOGUE.tools.len(),
    };
    let config = Arc::new(Config::for_tests(machine.path));
    // The bytes of a simulated database depend on the seed alone.
    let observed = Observed { os_user: "sim".to_owned(), host: "machine".to_owned(), pid: 1 };
    let parts = Parts { observed: observed.into(), ..Parts::new(config, facts) };
    Cx::new(None, machine.clock.clone(), Box::new(SimIds::new(seed)), parts)
}

fn facts(boot_id: String) -> AuditFacts {
    AuditFacts { mode: "FULL", boot_id, boot_start_ms: 0.0 }
}

/// Over a store of its own the chain never waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the chain waits for something"),
    }
}

/// Where a process's replies arrive. They count as received, even if the process then dies.
pub struct Inbox<'a> {
    pub control: &'a Control,
    /// The process has no database yet.
    pub early: bool,
    pub replies: Vec<Reply>,
    /// A reply that reported effects before they were synced.
    pub hasty: Option<Reply>,
}

impl<'a> Inbox<'a> {
    pub fn new(control: &'a Control, early: bool) -> Self {
        Self { control, early, replies: Vec::new(), hasty: None }
    }
}

impl Outlet for Inbox<'_> {
    fn reply(&mut self, reply: Reply) {
        let told_of_row = match Said::read(&reply.answer).0 {
            Said::NotEntered => false,
            Said::Done(_) => true,
            // After a failed sync the process syncs and acknowledges nothing more.
            _ => !self.control.has_sync_failed(),
        };
        if told_of_row && self.control.is_unsynced() && !self.early {
            self.hasty = Some(reply.clone());
        }
        self.replies.push(reply);
    }

    fn flush(&mut self) {}
}
