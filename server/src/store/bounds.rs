//! What SQLite may do with a file that a command examines. The file may be made to mislead: a schema is code that SQLite runs,
//! and a few pages can describe more rows than can be read. So a connection that examines a file has bounds of its own.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

use super::side_file;

/// The longest value that is read. The longest line that a server takes has 4 MiB, and no value is longer than its line.
const MAX_VALUE_BYTES: i32 = 5 << 20;
/// The longest text of a statement or of a schema's object. The longest in `migrations/` has some 3 KiB.
const MAX_SQL_BYTES: i32 = 64 << 10;
/// SQLite's own default. A file's header can ask for another one.
const CACHE_KIB: i64 = 2_000;
/// What SQLite may allocate in all, in bytes. An honest verification takes about a tenth.
const HEAP_BYTES: i64 = 40 << 20;
/// Steps of SQLite's virtual machine between two looks at the bound.
const STEPS_BETWEEN: i32 = 1_000;
/// Steps that reading the schema may take. Each object takes ten; Colibri's are a hundred.
const STEPS_OF_SCHEMA: u64 = 20_000;
/// Steps that every file may take.
const STEPS_AT_LEAST: u64 = 1_000_000;
/// Steps for each byte of the file. A whole verification of an honest file takes a fifteenth.
const STEPS_PER_BYTE: u64 = 2;
/// Bytes of a file whose place on the disk is not asked for.
const GRANTED_BY_LENGTH: u64 = 16 << 20;

/// The bounds of a connection that may move: the tables that it may read, and the steps that its statements may still take.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    readable: Arc<RwLock<BTreeSet<String>>>,
    steps_left: Arc<AtomicU64>,
}

impl Bounds {
    /// Puts bounds on a connection before its first statement: no views and triggers, no large values, no endless statements,
    /// and no table until its shape is known.
    ///
    /// # Errors
    /// SQLite's.
    pub fn put_on(conn: &mut Connection) -> rusqlite::Result<Self> {
        let bounds = Self { readable: Arc::default(), steps_left: limit(conn)? };
        let readable = bounds.readable.clone();
        conn.authorizer(Some(move |context: AuthContext<'_>| may(&context.action, &readable)))?;
        Ok(bounds)
    }

    /// Reads the schema, then gives the statements on its tables what a file of that size can need.
    ///
    /// # Errors
    /// SQLite's.
    pub fn read_schema(&self, conn: &Connection, file: &Path) -> rusqlite::Result<()> {
        conn.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
        let steps = STEPS_AT_LEAST.saturating_add(bytes_on_disk(file).saturating_mul(STEPS_PER_BYTE));
        self.steps_left.store(steps, Ordering::Relaxed);
        Ok(())
    }

    /// Lets the connection read these tables from now on, and no others. Every other one is refused while a statement is
    /// compiled.
    pub fn may_read(&self, tables: &BTreeSet<String>) {
        self.readable.write().unwrap_or_else(PoisonError::into_inner).clone_from(tables);
    }
}

/// The bounds that need no knowledge of the file: enough to read a schema with. The steps that are left may be moved.
///
/// # Errors
/// SQLite's.
pub(super) fn limit(conn: &mut Connection) -> rusqlite::Result<Arc<AtomicU64>> {
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    conn.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    // One bound for the whole life of the connection: statements run inside each other, so none has steps of its own.
    let steps_left = Arc::new(AtomicU64::new(STEPS_OF_SCHEMA));
    let left = steps_left.clone();
    let spend = move || {
        let spent = left.load(Ordering::Relaxed).saturating_sub(u64::from(STEPS_BETWEEN.unsigned_abs()));
        left.store(spent, Ordering::Relaxed);
        spent == 0
    };
    conn.progress_handler(STEPS_BETWEEN, Some(spend))?;
    Ok(steps_left)
}

/// Bounds what SQLite allocates in this process. For the process of a command that examines a file, before it opens one, and
/// for no server. Where SQLite is in use already, as in a test, there is no bound.
pub fn bound_memory() {
    let _bounded = colibri_wal::bound_heap(HEAP_BYTES);
}

fn may(action: &AuthAction<'_>, readable: &RwLock<BTreeSet<String>>) -> Authorization {
    let allowed = match action {
        // The true name of the schema's table: `sqlite_schema` may be something of the file's own.
        AuthAction::Read { table_name: "sqlite_master", .. } => true,
        AuthAction::Read { table_name, .. } => {
            readable.read().unwrap_or_else(PoisonError::into_inner).contains(*table_name)
        }
        AuthAction::Select
        | AuthAction::Function { .. }
        | AuthAction::Pragma { .. }
        | AuthAction::Transaction { .. }
        | AuthAction::Recursive => true,
        _ => false,
    };
    if allowed { Authorization::Allow } else { Authorization::Deny }
}

/// What the database and its log take on the disk. A sparse file takes less than its length, which costs its maker nothing; but
/// some file systems count the blocks of a new file only after seconds, so a little is granted by the length alone.
fn bytes_on_disk(file: &Path) -> u64 {
    let bytes = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let on_disk = std::os::unix::fs::MetadataExt::blocks(&found).saturating_mul(512);
        #[cfg(not(unix))]
        let on_disk = found.len();
        Some(found.len().min(on_disk.max(GRANTED_BY_LENGTH)))
    };
    bytes(file).unwrap_or(0).saturating_add(bytes(&side_file::named(file, "-wal")).unwrap_or(0))
}
