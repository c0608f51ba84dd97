//! The options of a server. Everything has a default; tests replace what they need to.

use std::path::PathBuf;
use std::sync::Arc;

use colibri_runtime::chain::audit::AuditSink;
use colibri_runtime::chain::log::Log;
use colibri_runtime::kernel::{Clock, Ids, SystemClock, SystemIds};

use super::transport::{Stdio, Transport};
use crate::settings::config::Config;
use crate::settings::environment::Environment;
use crate::settings::mode::Mode;
use colibri_store::db::Db;

/// Where audit events go.
pub enum AuditChoice {
    /// Nowhere: the default of a server that is constructed as a library.
    NoOp,
    /// The store's table where the mode may write it, memory elsewhere: what the process uses.
    ByMode,
    /// The caller's sink.
    Sink(Box<dyn AuditSink>),
}

/// Makes one id source for each phase of the start.
pub type IdSource = Arc<dyn Fn() -> Box<dyn Ids> + Send + Sync>;

/// Runs in the second phase, on its helper thread, with the open database. Tests inject faults with it.
pub type OpenHook = Box<dyn FnOnce(Option<&Db>) -> Result<(), String> + Send>;

/// The options of [`create_server`](super::server::create_server).
pub struct Options {
    /// The variables to read; the process's own by default.
    pub environment: Environment,
    /// A configuration that was read already; `environment` is ignored then.
    pub config: Option<Config>,
    /// Replaces the package's version.
    pub version: Option<String>,
    /// Replaces the directory of skills that the configuration names (skills#discovery).
    pub skills_root: Option<PathBuf>,
    /// Replaces the mode; `COLIBRI_MODE` is ignored then, even if it is wrong.
    pub mode: Option<Mode>,
    /// Where audit events go.
    pub audit: AuditChoice,
    /// Where messages come from and go to.
    pub transport: Box<dyn Transport>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Monotonic milliseconds at which the server counts as started; the clock's by default.
    pub boot_start_ms: Option<f64>,
    /// Ids.
    pub ids: IdSource,
    /// Replaces the log on stderr.
    pub log: Option<Arc<dyn Log>>,
    /// Whether tools that the catalogue calls early answer before the start is over.
    pub answers_early: bool,
    /// Milliseconds that shutdown waits for a running call.
    pub cleanup_timeout_ms: u64,
    /// The store's largest size in pages, to simulate a full disk.
    pub max_pages: Option<u32>,
    /// Runs once the database is open.
    pub on_open: Option<OpenHook>,
}

/// How long a shutdown waits for the running call (chain#limits).
pub(crate) const CLEANUP_TIMEOUT_MS: u64 = 5000;

impl Default for Options {
    fn default() -> Self {
        Self {
            environment: Environment::capture(),
            config: None,
            version: None,
            skills_root: None,
            mode: None,
            audit: AuditChoice::NoOp,
            transport: Box::new(Stdio::default()),
            clock: Arc::new(SystemClock::default()),
            boot_start_ms: None,
            ids: Arc::new(|| Box::new(SystemIds::default())),
            log: None,
            answers_early: true,
            cleanup_timeout_ms: CLEANUP_TIMEOUT_MS,
            max_pages: None,
            on_open: None,
        }
    }
}
