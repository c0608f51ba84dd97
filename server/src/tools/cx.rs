//! The context of a handler: the database handle, clock, ids and configuration of its call.

use std::sync::Arc;

use colibri_runtime::handler::{CallStatus, Context, Fault};
use colibri_runtime::kernel::{Clock, Ids, rfc3339_ms};
use zeroize::Zeroizing;

use crate::domains::proof::keyring::Keyring;
use crate::domains::router::service::Router;
use crate::domains::system::facts::SystemFacts;
use crate::settings::config::Config;
use crate::store::db::Db;
use colibri_proof::keys::{SigningKey, TrustedKeys};

/// The context of store tools.
pub struct Cx {
    pub(crate) db: Option<Db>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Box<dyn Ids>,
    pub(crate) config: Arc<Config>,
    pub(crate) status: CallStatus,
    pub(crate) facts: SystemFacts,
    pub(crate) keyring: Arc<Keyring>,
    /// See [`Cx::set_subject`].
    pub(crate) subject: Option<String>,
    /// See [`Cx::rehearse`].
    rehearsal: bool,
    /// See [`Cx::skills_root`].
    skills_root: String,
    router: Option<Arc<Router>>,
}

impl Cx {
    /// Makes a context before its first call, without keys; boot adds the database once it is open.
    pub fn new(
        db: Option<Db>,
        clock: Arc<dyn Clock>,
        ids: Box<dyn Ids>,
        config: Arc<Config>,
        facts: SystemFacts,
    ) -> Self {
        let status = CallStatus {
            sequence_no: None,
            entered_ms: None,
            ready: false,
            audit_sink: "noop",
            exit_failures: 0,
            queue_depth: 0,
        };
        let keyring = Arc::default();
        Self {
            db,
            clock,
            ids,
            config,
            status,
            facts,
            keyring,
            subject: None,
            rehearsal: false,
            skills_root: String::new(),
            router: None,
        }
    }

    /// Adds the server's keys.
    #[must_use]
    pub fn with_keyring(self, keyring: Arc<Keyring>) -> Self {
        Self { keyring, ..self }
    }

    /// Adds a router; boot does so as soon as its candidates are read.
    #[must_use]
    pub fn with_router(self, router: Arc<Router>) -> Self {
        Self { router: Some(router), ..self }
    }

    /// Returns the process's router.
    ///
    /// # Errors
    /// [`Fault::Other`] before boot has read its candidates.
    pub fn router(&self) -> Result<&Arc<Router>, Fault> {
        self.router.as_ref().ok_or_else(no_router)
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

    /// Returns the root whose skills this process shows, by its name in the database; empty before boot has found it.
    pub fn skills_root(&self) -> &str {
        &self.skills_root
    }

    /// Sets the root that boot has found.
    pub(crate) fn set_skills_root(&mut self, root: String) {
        self.skills_root = root;
    }

    /// Returns the chain's own status.
    pub fn status(&self) -> CallStatus {
        self.status
    }

    /// Returns the server's knowledge about itself; boot keeps it up to date.
    pub fn facts(&self) -> &SystemFacts {
        &self.facts
    }

    /// Returns monotonic milliseconds, from the injected clock.
    pub fn monotonic_ms(&self) -> f64 {
        self.clock.monotonic_ms()
    }

    /// Returns the server's configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the key that signs tree heads, if one is configured.
    pub fn signing_key(&self) -> Option<&SigningKey> {
        self.keyring.signing_key()
    }

    /// Returns the keys whose signatures on tree heads are trusted.
    pub fn trusted_keys(&self) -> &TrustedKeys {
        self.keyring.trusted_keys()
    }
}

impl Context for Cx {
    type Scan = ScanCx;
    type Network = NetworkCx;

    fn begin_call(&mut self, call: CallStatus) {
        self.status = call;
        self.subject = None;
        self.rehearsal = false;
    }

    fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    fn network(&mut self) -> NetworkCx {
        NetworkCx { router: self.router.clone() }
    }
}

fn no_router() -> Fault {
    Fault::Other("the router is not initialised".into())
}

/// The context of network tools. Their calls hold no store and last longer than the turn in which they start.
#[derive(Clone)]
pub struct NetworkCx {
    router: Option<Arc<Router>>,
}

impl NetworkCx {
    /// Returns the process's router.
    ///
    /// # Errors
    /// [`Fault::Other`] before boot has read its candidates.
    pub fn router(&self) -> Result<&Arc<Router>, Fault> {
        self.router.as_ref().ok_or_else(no_router)
    }
}

/// The context of scan tools: a read-only connection inside a read transaction.
pub struct ScanCx {
    db: Db,
    keyring: Arc<Keyring>,
}

impl ScanCx {
    pub(crate) fn new(db: Db, keyring: Arc<Keyring>) -> Self {
        Self { db, keyring }
    }

    /// Returns the database as it was when the call began.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Returns the keys whose signatures on tree heads are trusted.
    pub fn trusted_keys(&self) -> &TrustedKeys {
        self.keyring.trusted_keys()
    }
}
