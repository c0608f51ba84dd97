//! A store with a folder of skills, a clock that a test sets, and a log that it can read.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use crate::catalogue::SkillListOutputSkillsItem;
use crate::domains::skills::store::RecordedIndex;
use crate::domains::skills::{
    Load, Loaded, PREFIX, SkillFilter, list_skills, recorded_index, registry_digest, true_root,
};
use crate::domains::system::facts::{DatabaseState, DatabaseStatus, Phase, SystemFacts};
use crate::lifecycle::phase2::load_skills;
use crate::migrations::MIGRATIONS;
use crate::settings::config::Config;
use crate::tools::cx::{Cx, Parts};
use colibri_canonical::HexDigest;
use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::store::{Store, StoreFault};
use colibri_runtime::handler::Fault;
use colibri_runtime::kernel::{Clock, SystemIds};
use colibri_store::AuditFacts;
use colibri_store::ServerStore;
use colibri_store::db::Db;
use colibri_store::sqlite::open::{StoreOptions, WAIT, init_db};
use tempfile::TempDir;

/// A file of a good skill.
pub fn skill(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\nBody of {name}.\n")
}

struct Wall(AtomicI64);

impl Clock for Wall {
    fn monotonic_ms(&self) -> f64 {
        0.0
    }
    fn wall_ms(&self) -> i64 {
        self.0.fetch_add(1000, Ordering::SeqCst)
    }
}

/// Lines of the log.
#[derive(Default)]
pub struct Lines(Mutex<Vec<(Level, String)>>);

impl Log for Lines {
    fn enabled(&self, _: Level) -> bool {
        true
    }
    fn write(&self, level: Level, message: &str) {
        self.0.lock().unwrap().push((level, message.to_owned()));
    }
}

/// A folder with a database and a root of skills.
pub struct World {
    pub folder: TempDir,
    pub store: ServerStore<Parts>,
    log: Lines,
}

impl World {
    /// Without a single skill; the root does not exist yet. Each look at the clock is a second later.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("colibri.db");
        let opened = init_db(&StoreOptions {
            path: path.clone(),
            read_only: false,
            sync: false,
            boot_id: "11111111-1111-4111-8111-111111111111".to_owned(),
            process_aborted: "ABORTED",
            now: "2026-11-21T10:00:00.000Z".to_owned(),
            migrations: MIGRATIONS,
            tail_checks: &[],
            max_pages: None,
            wait: WAIT,
        })
        .unwrap();
        let facts = SystemFacts {
            version: "9.9.9-test".to_owned(),
            boot_start_ms: 0.0,
            phase: Phase::Phase2,
            database: DatabaseState {
                status: DatabaseStatus::Open,
                path: None,
                read_only: false,
                latest_schema_version: 1,
            },
            tool_count: 0,
            admitted_tool_count: 0,
        };
        let clock = Arc::new(Wall(AtomicI64::new(1_767_225_600_000)));
        let config = Arc::new(Config::for_tests(path));
        let cx = Cx::new(None, clock, Box::new(SystemIds::default()), Parts::new(config, facts));
        let audit = AuditFacts { mode: "FULL", boot_id: "b".to_owned(), boot_start_ms: 0.0 };
        let mut store = ServerStore::new(cx, audit);
        store.attach(opened).unwrap();
        Self { folder, store, log: Lines::default() }
    }

    pub fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("skills")
    }

    /// Writes the SKILL.md of a directory below the root.
    pub fn write(&self, directory: &str, text: impl AsRef<[u8]>) {
        write(&self.root(), directory, text);
    }

    /// Removes it again.
    pub fn remove(&self, directory: &str) {
        std::fs::remove_file(self.root().join(directory).join("SKILL.md")).unwrap();
    }

    pub fn try_load(&mut self) -> Result<Loaded, StoreFault> {
        let root = self.root();
        load_skills(&mut self.store, Load::scan(&root, PREFIX), true, &self.log)
    }

    pub fn load(&mut self) -> Loaded {
        self.try_load().unwrap()
    }

    /// The log since the last look.
    pub fn lines(&self) -> Vec<(Level, String)> {
        std::mem::take(&mut *self.log.0.lock().unwrap())
    }

    pub fn db(&mut self) -> &Db {
        self.store.cx().db().unwrap()
    }

    /// What the database calls the root.
    fn name(&self) -> String {
        true_root(&self.root())
    }

    pub fn recorded(&mut self) -> Result<Option<RecordedIndex>, Fault> {
        let name = self.name();
        recorded_index(self.db(), &name)
    }

    pub fn digest(&mut self) -> Result<HexDigest, Fault> {
        let name = self.name();
        registry_digest(self.db(), &name)
    }

    pub fn listed(&mut self, filter: &SkillFilter) -> Result<Vec<SkillListOutputSkillsItem>, Fault> {
        let name = self.name();
        list_skills(self.db(), &name, filter)
    }

    /// Every stored value but the root and the time of the load.
    pub fn rows(&mut self) -> Vec<Vec<Option<String>>> {
        self.db()
            .query_all(
                "SELECT name, description, version, entrypoint, capabilities, greek_letter, body, source_path, \
                 frontmatter_json FROM skills ORDER BY name",
                &[],
                |row| (0..9).map(|column| row.get(column)).collect(),
            )
            .unwrap()
    }

    pub fn names(&mut self) -> Vec<String> {
        self.db().query_all("SELECT name FROM skills ORDER BY name", &[], |row| row.get(0)).unwrap()
    }
}

/// Writes the SKILL.md of a directory below a root.
pub fn write(root: &Path, directory: &str, text: impl AsRef<[u8]>) {
    let directory = root.join(directory);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("SKILL.md"), text).unwrap();
}
