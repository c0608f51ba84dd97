//! A server: put together, started, run, stopped (chain#life-cycle).
//!
//! States only move forward: constructed, phase 1 (transport up), phase 2 (database ready), stopping,
//! stopped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_runtime::chain::audit::{MemorySink, NoOpSink};
use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::registry::{RegistrationError, Registry};
use colibri_runtime::chain::store::Access;
use colibri_runtime::chain::{Audit, Chain, Kernel};
use colibri_runtime::handler::Dispatch;
use colibri_runtime::serve::{Control, Finish, Serve};
use colibri_runtime::spec::CatalogueSpec;
use colibri_runtime::wire::stdio::Streams;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::log::Logger;
use super::options::{AuditChoice, Options};
use super::phase2::{self, Phase2};
use super::transport::Transport;
use super::watchdog;
use crate::catalogue::{NoteKind, ToolId};
use crate::domains::proof::keyring::Keyring;
use crate::domains::system::facts::{DatabaseState, DatabaseStatus, Phase, SystemFacts};
use crate::migrations::MIGRATIONS;
use crate::settings::config::{Config, load_config};
use crate::settings::mode::{Mode, ModeGate, capabilities_for, is_admitted, is_listed};
use crate::settings::toolsets::{ToolsetGate, offered};
use crate::tools::cx::{Cx, Parts};
use colibri_store::AuditFacts;
use colibri_store::ServerStore;
use colibri_store::sqlite::open::migrate;

/// Why a server could not be made or started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Bad variables, one line each.
    #[error("{}", .0.join("\n"))]
    Configuration(Vec<String>),
    /// A tool that cannot be registered.
    #[error(transparent)]
    Registration(#[from] RegistrationError),
    /// The transport could not be opened.
    #[error("transport failed: {0}")]
    Transport(String),
    /// The timeout of `COLIBRI_STARTUP_TIMEOUT_MS` has passed.
    #[error("startup timeout exceeded")]
    Timeout,
}

/// What reaches a running server from its watchdog.
pub type Controls = UnboundedSender<Control<ServerStore<Parts>>>;

/// A server over the handlers `D`.
pub struct Server<D> {
    pub(super) chain: Chain<ServerStore<Parts>, D>,
    config: Arc<Config>,
    version: String,
    transport: Box<dyn Transport>,
    streams: Option<(Streams, UnboundedReceiver<Control<ServerStore<Parts>>>)>,
    controls: Controls,
    inbox: Option<UnboundedReceiver<Control<ServerStore<Parts>>>>,
    pub(super) phase2: Option<Phase2>,
    pub(super) log: Arc<dyn Log>,
    started: Option<Instant>,
    stopped: bool,
    cleanup_timeout_ms: u64,
    forced: bool,
    /// No start has succeeded, or what ended the server is a failure.
    failed: bool,
}

/// Puts a server together. Nothing is opened, no thread or signal handler exists yet.
///
/// # Errors
/// A bad configuration, or a catalogue with a tool that cannot be registered.
pub fn create_server<D: Dispatch<Cx>>(
    catalogue: &'static CatalogueSpec,
    dispatch: D,
    options: Options,
) -> Result<Server<D>, StartError> {
    let (mut config, warnings) = configuration(&options)?;
    if let Some(root) = &options.skills_root {
        config.skills_root.clone_from(root);
        config.skills_root_is_set = true;
    }
    let redactor = Redactor::new(config.secrets()).sparing(catalogue.names());
    let log =
        options.log.clone().unwrap_or_else(|| Arc::new(Logger::stderr(config.log_level, redactor.clone())));
    for warning in warnings {
        log.write(Level::Warn, &warning);
    }
    let registry = Registry::under(catalogue, &|name| config.word(name))?;
    let version = options.version.clone().unwrap_or_else(|| crate::VERSION.to_owned());
    let facts = first_facts(&config, &registry, &version, &options);
    let keyring =
        Keyring::load(&config).map_err(|error| StartError::Configuration(vec![error.to_string()]))?;
    let (config, keyring) = (Arc::new(config), Arc::new(keyring));
    let parts = Parts { keys: keyring.clone(), ..Parts::new(config.clone(), facts.clone()) };
    let cx = Cx::new(None, options.clock.clone(), (options.ids)(), parts);
    let phase2 = Phase2 {
        config: config.clone(),
        clock: options.clock.clone(),
        ids: options.ids.clone(),
        facts,
        keyring,
        codes: catalogue.codes,
        max_pages: options.max_pages,
        on_open: options.on_open,
        index_skills: true,
        log: log.clone(),
        done: None,
    };
    let audit_facts = AuditFacts {
        mode: config.mode.as_str(),
        boot_id: String::new(),
        boot_start_ms: phase2.facts.boot_start_ms,
    };
    let store = ServerStore::new(cx, audit_facts);
    let kernel = Kernel { clock: options.clock, ids: (options.ids)(), log: log.clone(), redactor };
    let audit = first_sink(options.audit, config.mode);
    let mut chain = Chain::new(registry, store, dispatch, audit, kernel);
    chain.set_answers_early(options.answers_early);
    configure(&mut chain, &config, catalogue);
    let (controls, inbox) = unbounded_channel();
    Ok(Server {
        chain,
        config,
        version,
        transport: options.transport,
        streams: None,
        controls,
        inbox: Some(inbox),
        phase2: Some(phase2),
        log,
        started: None,
        stopped: false,
        cleanup_timeout_ms: options.cleanup_timeout_ms,
        forced: false,
        failed: true,
    })
}

/// Tells the chain what the configuration asks of it.
fn configure<D: Dispatch<Cx>>(
    chain: &mut Chain<ServerStore<Parts>, D>,
    config: &Config,
    catalogue: &CatalogueSpec,
) {
    // Before the mode: what is switched off stays so in every mode.
    let offered = offered(&config.tools, config.mode, catalogue);
    chain.add_admission(Box::new(ToolsetGate::new(offered.clone(), config.mode, catalogue)));
    chain.add_admission(Box::new(ModeGate::new(config.mode, catalogue)));
    chain.set_selection(offered);
    // Every catalogue of a server with a log has this operation.
    chain.set_introduction(ToolId::CallerBegin.name());
    chain.set_notes(ToolId::CallNote.name(), NoteKind::Withdrawn.as_str());
    if !capabilities_for(config.mode).write_database {
        chain.set_access(Access::Read);
    }
}

/// Returns the configuration of the options, and its warnings.
fn configuration(options: &Options) -> Result<(Config, Vec<String>), StartError> {
    if let Some(config) = &options.config {
        return Ok((config.clone(), Vec::new()));
    }
    let environment = match options.mode {
        // An injected mode takes precedence over the variable, which is then ignored.
        Some(mode) => options.environment.with("COLIBRI_MODE", mode.as_str()),
        None => options.environment.clone(),
    };
    load_config(&environment, std::process::id()).map_err(StartError::Configuration)
}

fn first_sink(choice: AuditChoice, mode: Mode) -> Audit {
    match choice {
        AuditChoice::NoOp => Audit::Sink(Box::new(NoOpSink)),
        AuditChoice::Sink(sink) => Audit::Sink(sink),
        AuditChoice::ByMode if capabilities_for(mode).write_database => Audit::Buffer,
        AuditChoice::ByMode => Audit::Sink(Box::new(MemorySink::default())),
    }
}

fn first_facts(config: &Config, registry: &Registry, version: &str, options: &Options) -> SystemFacts {
    let skipped = config.mode == Mode::Minimal;
    let selection = offered(&config.tools, config.mode, registry.catalogue());
    let offered = || registry.tools().iter().filter(|tool| selection.holds(tool));
    SystemFacts {
        version: version.to_owned(),
        boot_start_ms: options.boot_start_ms.unwrap_or_else(|| options.clock.monotonic_ms()),
        phase: Phase::Phase1,
        database: DatabaseState {
            status: if skipped { DatabaseStatus::Skipped } else { DatabaseStatus::Opening },
            path: (!skipped).then(|| config.place.to_string()),
            read_only: !capabilities_for(config.mode).write_database,
            latest_schema_version: u32::try_from(migrate::latest(MIGRATIONS)).unwrap_or(u32::MAX),
        },
        tool_count: offered().filter(|tool| is_listed(config.mode, tool)).count(),
        admitted_tool_count: offered().filter(|tool| is_admitted(config.mode, tool).is_ok()).count(),
    }
}

impl<D: Dispatch<Cx>> Server<D> {
    /// Returns the server's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the runtime mode.
    pub fn mode(&self) -> Mode {
        self.config.mode
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the registered tools.
    pub fn registry(&self) -> &Registry {
        self.chain.registry()
    }

    /// Checks whether the transport is open.
    pub fn is_connected(&self) -> bool {
        self.streams.is_some() || (self.started.is_some() && !self.stopped)
    }

    /// Returns the channel by which a watchdog reaches the server.
    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// Resolves `done` when phase 2 is over, whether it succeeded or not.
    pub(super) fn on_phase2(&mut self, done: tokio::sync::oneshot::Sender<()>) {
        if let Some(phase2) = &mut self.phase2 {
            phase2.done = Some(done);
        }
    }

    /// Phase 1: opens the transport. A second start does nothing.
    ///
    /// # Errors
    /// The transport failed, or did not open within the startup timeout.
    pub async fn start(&mut self) -> Result<(), StartError> {
        if self.started.is_some() {
            return Ok(());
        }
        let began = Instant::now();
        self.chain.seal_registry();
        self.info(&format!("[colibri] starting in mode={} version={}", self.mode(), self.version));
        let limit = Duration::from_millis(u64::from(self.config.startup_timeout_ms));
        let streams = tokio::time::timeout(limit, self.transport.open())
            .await
            .map_err(|_| StartError::Timeout)?
            .map_err(|error| StartError::Transport(error.to_string()))?;
        self.streams = self.inbox.take().map(|inbox| (streams, inbox));
        (self.started, self.failed) = (Some(began), false);
        self.info(&format!("[Startup] Phase 1 ready in {}ms", began.elapsed().as_millis()));
        Ok(())
    }

    /// Begins phase 2, and serves until the input ends, a signal comes, or the client is gone; replies are written by then.
    pub async fn run(&mut self) -> Finish {
        self.run_beside(|| ()).await
    }

    /// Like [`Server::run`], but also begins something beside the loop.
    ///
    /// The server answers waiting messages before any thread starts. Clients send `initialize` first; replying while the process
    /// has one thread avoids stalls, since its pages are mapped without stopping other threads.
    pub(super) async fn run_beside(&mut self, beside: impl FnOnce()) -> Finish {
        let Some((Streams { reader, writer }, inbox)) = self.streams.take() else {
            return Finish::EndOfInput;
        };
        let mut serve = Serve::new(&mut self.chain, &self.version, reader, writer, inbox);
        serve.greet().await;
        beside();
        if let (Some(phase2), Some(began)) = (self.phase2.take(), self.started) {
            phase2::begin(phase2, self.controls.clone(), began);
        }
        let finish = serve.run().await;
        self.forced = finish == Finish::Forced;
        self.failed = matches!(finish, Finish::StartupFailed(_) | Finish::Fatal(_));
        finish
    }

    /// Runs the shutdown sequence of chain#shutdown from step 2 on; returns whether the database was closed in order. A second stop
    /// does nothing.
    pub fn stop(&mut self) -> bool {
        if std::mem::replace(&mut self.stopped, true) {
            return true;
        }
        self.streams = None;
        if let Err(error) = self.transport.close() {
            self.log.write(Level::Error, &format!("[Shutdown] stop failed: {error}"));
        }
        self.chain.close_pending();
        let sizes = self.chain.batch_sizes();
        if sizes.total() > 0 {
            self.info(&format!("[chain] batch sizes: {sizes}"));
        }
        let closed = self.chain.store.close();
        if let Err(error) = &closed {
            self.log.write(Level::Error, &format!("[Shutdown] close failed: {error}"));
        }
        phase2::remove_ephemeral(&self.config);
        if self.forced {
            self.info(&watchdog::forced(self.cleanup_timeout_ms));
        } else if self.failed || closed.is_err() {
            self.info("[Shutdown] Ended after a failure");
        } else {
            self.info("[Shutdown] Clean");
        }
        closed.is_ok()
    }

    fn info(&self, message: &str) {
        self.log.write(Level::Info, message);
    }
}
