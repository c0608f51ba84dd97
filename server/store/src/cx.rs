//! The context of a handler: the database handle, clock and ids of its call, and what the server itself adds.

use std::cell::Cell;
use std::sync::Arc;

use colibri_runtime::handler::{CallStatus, Context, Fault, Notice};
use colibri_runtime::kernel::{Clock, Ids, rfc3339_ms};
use colibri_runtime::progress::Progress;
use colibri_runtime::spec::{NoticeForm, fill};
use zeroize::Zeroizing;

use crate::callers;
use crate::db::Db;

/// What a server keeps for its handlers beside the database.
pub trait Parts: 'static {
    /// What a scan takes to its helper thread.
    type Scan: Send + 'static;
    /// What a call takes that outlives its turn.
    type Network: 'static;

    /// Returns what a scan takes with it.
    fn for_scan(&self) -> Self::Scan;

    /// Returns what a network call takes with it, and where it reports how far it is.
    fn for_network(&self, progress: Progress) -> Self::Network;
}

/// A server whose handlers need nothing beside the database.
impl Parts for () {
    type Scan = ();
    type Network = ();

    fn for_scan(&self) {}

    fn for_network(&self, _: Progress) {}
}

/// The context of store tools.
pub struct Cx<P> {
    pub(crate) db: Option<Db>,
    clock: Arc<dyn Clock>,
    ids: Box<dyn Ids>,
    status: CallStatus,
    progress: Progress,
    /// See [`Cx::set_subject`].
    pub(crate) subject: Option<String>,
    /// See [`Cx::rehearse`].
    rehearsal: bool,
    /// See [`Cx::notify`].
    notices: Vec<Notice>,
    /// This process's name in the log; empty without a log.
    pub(crate) boot_id: String,
    /// The last caller that this process has stored: the call that stored it, and its number.
    last_caller: Cell<Option<(i64, i64)>>,
    /// What the server keeps for its handlers.
    pub parts: P,
}

impl<P> Cx<P> {
    /// Makes a context before its first call; boot adds the database once it is open.
    pub fn new(db: Option<Db>, clock: Arc<dyn Clock>, ids: Box<dyn Ids>, parts: P) -> Self {
        let status = CallStatus {
            sequence_no: None,
            entered_ms: None,
            ready: false,
            audit_sink: "noop",
            exit_failures: 0,
            queue_depth: 0,
        };
        Self {
            db,
            clock,
            ids,
            status,
            progress: Progress::default(),
            subject: None,
            rehearsal: false,
            notices: Vec::new(),
            boot_id: String::new(),
            last_caller: Cell::new(None),
            parts,
        }
    }

    /// Returns the database.
    ///
    /// # Errors
    /// [`Fault::Other`] if this process has opened none.
    pub fn db(&self) -> Result<&Db, Fault> {
        self.db.as_ref().ok_or_else(|| Fault::Other("database is not initialised".into()))
    }

    /// Returns milliseconds since the Unix epoch, from the injected clock.
    pub fn now_ms(&self) -> i64 {
        self.clock.wall_ms()
    }

    /// Returns when the running call was entered in the log, in milliseconds since the Unix epoch; outside a call,
    /// the present. Rows that are compared with the log use it, because the clock may step during a call.
    pub fn called_ms(&self) -> i64 {
        self.status.entered_ms.unwrap_or_else(|| self.now_ms())
    }

    /// Returns the present time in the form of stored texts: UTC, RFC 3339, milliseconds.
    pub fn now(&self) -> String {
        rfc3339_ms(self.now_ms())
    }

    /// Returns a fresh UUID v7 for a new row (chain#kernel).
    pub fn new_id(&mut self) -> String {
        let now = self.now_ms();
        self.ids.v7(now)
    }

    /// Returns 32 bytes from the operating system's random generator.
    ///
    /// # Errors
    /// [`Fault::Other`] if the operating system provides none.
    pub fn secret(&mut self) -> Result<Zeroizing<[u8; 32]>, Fault> {
        let secret = self.ids.secret().map(Zeroizing::new);
        secret.ok_or_else(|| Fault::Other("the operating system gives no randomness".into()))
    }

    /// Returns the number of the running call in the audit log, stored with rows that tools update in place
    /// (store#ties).
    pub fn sequence_no(&self) -> Option<i64> {
        self.status.sequence_no
    }

    /// Returns this process's name in the log; empty without a log.
    pub fn boot_id(&self) -> &str {
        &self.boot_id
    }

    /// Returns the number of the running call's caller (people#callers); `None` outside a call that is in the log.
    ///
    /// # Errors
    /// [`Fault`] of the database.
    pub fn caller_no(&self) -> Result<Option<i64>, Fault> {
        let Some(sequence_no) = self.sequence_no() else { return Ok(None) };
        if let Some((_, caller_no)) = self.last_caller.get().filter(|(from, _)| *from < sequence_no) {
            return Ok(Some(caller_no));
        }
        let db = self.db()?;
        match callers::last_of(db, &self.boot_id)? {
            // Calls that come from another caller than the last were entered together with it, and run before its own.
            Some((from, _)) if from > sequence_no => callers::caller_of(db, &self.boot_id, sequence_no),
            last => {
                self.last_caller.set(last);
                Ok(last.map(|(_, caller_no)| caller_no))
            }
        }
    }

    /// Notes that the running call stores a new caller.
    pub fn caller_changes(&mut self) {
        self.last_caller.set(None);
    }

    /// Names the row that this call created or changed, for the call's audit row. An auditor can then find the row
    /// from the call, and the call from the row. Kept only if the call succeeds.
    pub fn set_subject(&mut self, id: &str) {
        self.subject = Some(id.to_owned());
    }

    /// Makes this call a dry run: its changes are rolled back even if it succeeds. Its row in the log and its reply
    /// stay.
    pub fn rehearse(&mut self) {
        self.rehearsal = true;
    }

    /// Says something beside the call's result. It goes to the caller alone: the log's hash of the reply does not cover it.
    pub fn notify(&mut self, form: NoticeForm, texts: &[(&str, &str)]) {
        self.notices.push(Notice { code: form.code, message: fill(form.message, texts) });
    }

    /// Returns where the running call reports how far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the chain's own status.
    pub fn status(&self) -> CallStatus {
        self.status
    }

    /// Returns monotonic milliseconds, from the injected clock.
    pub fn monotonic_ms(&self) -> f64 {
        self.clock.monotonic_ms()
    }
}

impl<P: Parts> Context for Cx<P> {
    type Scan = ScanCx<P::Scan>;
    type Network = P::Network;

    fn begin_call(&mut self, call: CallStatus) {
        self.status = call;
        self.subject = None;
        self.rehearsal = false;
        self.notices.clear();
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    fn watch(&mut self, progress: Progress) {
        self.progress = progress;
    }

    fn network(&mut self) -> P::Network {
        self.parts.for_network(self.progress.clone())
    }
}

/// The context of scan tools: a read-only connection inside a read transaction.
pub struct ScanCx<S> {
    db: Db,
    now_ms: i64,
    progress: Progress,
    /// What the server gave the scan.
    pub parts: S,
}

impl<S> ScanCx<S> {
    pub(crate) fn new(db: Db, now_ms: i64, progress: Progress, parts: S) -> Self {
        Self { db, now_ms, progress, parts }
    }

    /// Returns the database as it was when the call began.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Returns where the scan reports how far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns when the call began, in milliseconds since the Unix epoch: the time of what [`ScanCx::db`] shows.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }
}
