//! Phase 2 of the start: the database, on a helper thread, while the loop already answers (chain#two-phases).

use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::store::{Store, StoreFault};
use colibri_runtime::kernel::{Clock, rfc3339_ms};
use colibri_runtime::serve::Control;
use colibri_runtime::spec::ChainCodes;

use super::options::{IdSource, OpenHook};
use super::preflight;
use super::server::Controls;
use crate::domains::proof::keyring::Keyring;
use crate::domains::router::start;
use crate::domains::skills::{Load, Loaded, PREFIX, root_on, true_root};
use crate::domains::system::facts::{DatabaseStatus, Phase, SystemFacts};
use crate::migrations::MIGRATIONS;
use crate::settings::config::{Config, Durability};
use crate::settings::mode::{Mode, capabilities_for};
use crate::settings::place::Place;
use crate::shared_schema::SCHEMA;
use crate::tools::cx::{Cx, Parts};
use colibri_store::AuditFacts;
use colibri_store::ServerStore;
use colibri_store::db::Db;
use colibri_store::postgres::open::{self, PostgresOptions};
use colibri_store::sqlite::look::schema::differences;
use colibri_store::sqlite::open::creation::UNFINISHED;
use colibri_store::sqlite::open::process;
use colibri_store::sqlite::open::{StoreOptions, init_db};
use colibri_store::store::OpenedDatabase;

/// Returns the name of the store's sink in a health report.
pub(super) fn sink(config: &Config) -> &'static str {
    match config.place {
        Place::File(_) => "sqlite",
        Place::Shared(_) => "postgres",
    }
}

/// What the helper thread works with.
pub struct Phase2 {
    pub(super) config: Arc<Config>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: IdSource,
    pub(super) facts: SystemFacts,
    pub(super) keyring: Arc<Keyring>,
    pub(super) codes: ChainCodes,
    pub(super) max_pages: Option<u32>,
    pub(super) on_open: Option<OpenHook>,
    /// Whether the skills on disk are indexed, which only a server does.
    pub(super) index_skills: bool,
    pub(super) log: Arc<dyn Log>,
    /// Told when the thread is done; the startup timeout ends then.
    pub(super) done: Option<tokio::sync::oneshot::Sender<()>>,
}

/// Starts the helper thread; its result reaches the loop as a control.
pub(super) fn begin(mut phase2: Phase2, controls: Controls, began: Instant) {
    let log = phase2.log.clone();
    let after = controls.clone();
    let spawned = std::thread::Builder::new().name("phase2".to_owned()).spawn(move || {
        let (log, config) = (phase2.log.clone(), phase2.config.clone());
        let (tools, sink) = (phase2.facts.tool_count, sink(&phase2.config));
        let done = phase2.done.take();
        let opened = open(phase2, &*log);
        if let Ok((_, version)) = &opened {
            let line = format!(
                "[Startup] Phase 2 ready in {}ms schema={version} tools={tools}",
                began.elapsed().as_millis()
            );
            log.write(Level::Info, &line);
            log.write(Level::Info, "[colibri] ready");
        }
        drop(done);
        // The loop is gone only if the process is ending.
        let _ = after.send(Control::Opened(opened.map(|(store, _)| (store, sink))));
        check_guards(&config, &*log);
    });
    if let Err(error) = spawned {
        log.write(Level::Error, &format!("[Startup] no helper thread: {error}"));
        let _ = controls.send(Control::Opened(Err(format!("no helper thread: {error}"))));
    }
}

/// How long the check of the guards lets the first calls go before.
const AFTER_FIRST_CALLS: Duration = Duration::from_millis(500);

/// Warns of each guard of a file that is missing or changed. PostgreSQL's are checked before the store opens.
fn check_guards(config: &Config, log: &dyn Log) {
    let Some(path) =
        config.place.file().filter(|_| config.mode != Mode::Minimal && !config.place.is_memory())
    else {
        return;
    };
    std::thread::sleep(AFTER_FIRST_CALLS);
    // A file that cannot be read any more is the next call's to report.
    let found = differences(path, MIGRATIONS).unwrap_or_default();
    preflight::report(&preflight::database::differences(&found), log);
}

/// Opens the store of the configured mode; returns it with its schema version.
pub(super) fn open(mut phase2: Phase2, log: &dyn Log) -> Result<(ServerStore<Parts>, i64), String> {
    phase2.facts.phase = Phase::Phase2;
    let hook = phase2.on_open.take();
    preflight::report(&preflight::degraded(&phase2.config), log);
    if phase2.config.mode == Mode::Minimal {
        hook.map_or(Ok(()), |hook| hook(None))?;
        let audit = phase2.audit_facts(String::new());
        let cx = phase2.context(None);
        return Ok((ServerStore::new(cx, audit), 0));
    }
    phase2.facts.database.status = DatabaseStatus::Open;
    let boot_id = process::boot_id(phase2.config.session_id.as_deref(), &mut *(phase2.ids)());
    let opened = phase2.open_database(&boot_id)?;
    if opened.aborted() > 0 {
        let calls = match opened.aborted() {
            1 => "1 call of a process that has died was closed".to_owned(),
            calls => format!("{calls} calls of processes that have died were closed"),
        };
        let line = format!("[Startup] {calls}");
        log.write(Level::Warn, &line);
    }
    for warning in opened.warnings() {
        log.write(Level::Warn, &format!("[Startup] {warning}"));
    }
    preflight::report(&preflight::epochs::check(opened.db(), phase2.config.epoch_seconds), log);
    let version = opened.schema_version();
    let audit = phase2.audit_facts(boot_id);
    let cx = phase2.context(Some(opened.db()));
    let mut store = ServerStore::new(cx, audit);
    hook.map_or(Ok(()), |hook| hook(Some(opened.db())))?;
    store.attach(opened).map_err(|fault| fault.0)?;
    let (root, is_set) = (&phase2.config.skills_root, phase2.config.skills_root_is_set);
    let machine = matches!(phase2.config.place, Place::Shared(_)).then(process::host);
    if phase2.index_skills && capabilities_for(phase2.config.mode).write_database {
        load_skills(&mut store, Load::scan(root, PREFIX).on(machine.as_deref()), is_set, log)
            .map_err(|fault| format!("cannot index the skills: {}", fault.0))?;
    } else {
        store.cx().parts.skills_root = root_on(machine.as_deref(), &true_root(root));
    }
    Ok((store, version))
}

/// Makes the rows of a root match its files, in one transaction. `asked_for` says that the operator has named the
/// root.
///
/// # Errors
/// The store's. The table is as it was before.
pub fn load_skills(
    store: &mut ServerStore<Parts>,
    load: Load,
    asked_for: bool,
    log: &dyn Log,
) -> Result<Loaded, StoreFault> {
    let now = store.cx().now();
    let pruned = store.write_at_boot(|db| load.store(db, &now))?;
    store.cx().parts.skills_root = load.root().to_owned();
    preflight::report(&preflight::skills::findings(load.found(), asked_for), log);
    if pruned > 0 {
        log.write(
            Level::Info,
            &format!("[Startup] {pruned} stored skills are gone from the disk, and from the index"),
        );
    }
    Ok(load.counts(pruned))
}

impl Phase2 {
    fn open_database(&self, boot_id: &str) -> Result<Box<dyn OpenedDatabase>, String> {
        let config = &self.config;
        let read_only = !capabilities_for(config.mode).write_database;
        let url = match &config.place {
            Place::Shared(url) => url,
            Place::File(path) => {
                let options = StoreOptions {
                    path: path.clone(),
                    read_only,
                    sync: config.durability != Durability::Normal,
                    boot_id: boot_id.to_owned(),
                    process_aborted: self.codes.process_aborted.code,
                    now: rfc3339_ms(self.clock.wall_ms()),
                    migrations: MIGRATIONS,
                    tail_checks: &[],
                    max_pages: self.max_pages,
                    // An obstacle is named before the watchdog ends the process.
                    wait: Duration::from_millis(u64::from(config.startup_timeout_ms / 2)),
                };
                let opened = init_db(&options).map_err(|error| error.to_string())?;
                return Ok(Box::new(opened));
            }
        };
        let options = PostgresOptions {
            url: Arc::new(url.clone()),
            session: config.sharing.session(),
            lease: Duration::from_secs(u64::from(config.sharing.lease_seconds)),
            witness: config.sharing.witness_dir.clone(),
            durability: match config.durability {
                Durability::Full => open::Durability::Full,
                Durability::Normal => open::Durability::Normal,
                Durability::Replicated => open::Durability::Replicated,
            },
            read_only,
            boot_id: boot_id.to_owned(),
            process_aborted: self.codes.process_aborted.code,
            schema: SCHEMA,
            clock: self.clock.clone(),
        };
        open::open(&options)
    }

    /// Returns what every audit row of this process says.
    fn audit_facts(&self, boot_id: String) -> AuditFacts {
        AuditFacts { mode: self.config.mode.as_str(), boot_id, boot_start_ms: self.facts.boot_start_ms }
    }

    /// Makes the context; its router has the candidates of the configuration, and what the database says of them.
    fn context(&self, db: Option<&Db>) -> Cx {
        let router = start::router(&self.config, db, self.clock.clone(), self.log.clone());
        let parts = Parts {
            keys: self.keyring.clone(),
            log: self.log.clone(),
            router: Some(Arc::new(router)),
            ..Parts::new(self.config.clone(), self.facts.clone())
        };
        Cx::new(None, self.clock.clone(), (self.ids)(), parts)
    }
}

/// Removes TEST's default database with its side files; ignores missing files.
pub(super) fn remove_ephemeral(config: &Config) {
    let Some(path) = config.place.file().filter(|_| config.ephemeral_db) else { return };
    for suffix in ["", "-wal", "-shm", "-journal", ".queue", UNFINISHED] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}
