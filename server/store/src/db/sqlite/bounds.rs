//! What SQLite may do with a file that a command examines. The file may be made to mislead: a schema is code that SQLite runs,
//! and a few pages can describe more rows than can be read. So a connection that examines a file has bounds of its own.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ffi};

use crate::side_file;
use crate::stop;

/// The longest value that is read. The longest line that a server takes has 4 MiB, and no value is longer than its line.
const MAX_VALUE_BYTES: i32 = 5 << 20;
/// The longest text of a statement or of a schema's object. The longest in `migrations/` has some 3 KiB.
const MAX_SQL_BYTES: i32 = 64 << 10;
/// SQLite's own default. A file's header can ask for another one.
const CACHE_KIB: i64 = 2_000;
/// What SQLite may allocate in all, in bytes. An honest verification takes about a tenth.
const HEAP_BYTES: i64 = 40 << 20;
/// What the file asks for is more than its bounds: SQLite's code for too little memory, told apart by a number of its own.
const TOO_MUCH: c_int = ffi::SQLITE_NOMEM | 0x7f << 8;
/// Steps of SQLite's virtual machine between two looks at the bound.
const STEPS_BETWEEN: i32 = 1_000;
/// Steps that reading the schema may take. Each object takes ten; Colibri's are a hundred.
const STEPS_OF_SCHEMA: u64 = 20_000;
/// Steps that every file may take.
const STEPS_AT_LEAST: u64 = 1_000_000;
/// Steps for each byte of the file. A whole verification of an honest file takes a fifteenth.
const STEPS_PER_BYTE: u64 = 2;
/// Columns of texts, as the statements name them. A walk looks at such a text and goes on; what it keeps of a row is in the others.
const TEXTS: [&str; 22] = [
    "allow",
    "body",
    "capabilities",
    "changes",
    "content",
    "content_compressed",
    "deny",
    "description",
    "entrypoint",
    "error_message",
    "evidence",
    "frontmatter_json",
    "greek_letter",
    "intent",
    "list",
    "request_id",
    "root",
    "source_path",
    "sql",
    "title",
    "trace_context",
    "version",
];
/// The longest value of any other column. The longest that Colibri writes joins names of 256 characters.
const MOST_BYTES_OF_KEY: usize = 4 << 10;
/// Bytes of each value that cost nothing. Hashes and most names have no more.
const FREE_BYTES: usize = 256;
/// The most that one list of rows may hold of texts. The longest that is kept is the evidence of a round's few transitions.
const MOST_BYTES_OF_LIST: u64 = 24 << 20;
/// What every file may hand out beyond them: in texts, and in all others.
const TEXT_BYTES_AT_LEAST: u64 = 64 << 20;
const KEY_BYTES_AT_LEAST: u64 = 8 << 20;
/// The same for each byte of the file. Rows may share the pages of their values, so that a small file hands out as much as it
/// likes; an honest one stores each value by itself, and a command reads it a few times.
const TEXT_BYTES_PER_BYTE: u64 = 8;
const KEY_BYTES_PER_BYTE: u64 = 2;
/// Bytes of a file whose place on the disk is not asked for.
const GRANTED_BY_LENGTH: u64 = 16 << 20;

/// The bounds of a connection that may move: the tables that it may read, the steps that its statements may still take, and
/// the bytes of long values that they may still hand out.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    readable: Arc<RwLock<BTreeSet<String>>>,
    steps_left: Arc<AtomicU64>,
    text_bytes_left: Arc<AtomicU64>,
    key_bytes_left: Arc<AtomicU64>,
}

impl Bounds {
    /// Puts bounds on a connection before its first statement: no views and triggers, no large values, no endless statements,
    /// and no table until its shape is known.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn put_on(conn: &mut Connection) -> rusqlite::Result<Self> {
        let bounds = Self {
            readable: Arc::default(),
            steps_left: limit(conn)?,
            text_bytes_left: Arc::new(AtomicU64::new(TEXT_BYTES_AT_LEAST)),
            key_bytes_left: Arc::new(AtomicU64::new(KEY_BYTES_AT_LEAST)),
        };
        let readable = bounds.readable.clone();
        conn.authorizer(Some(move |context: AuthContext<'_>| may(&context.action, &readable)))?;
        Ok(bounds)
    }

    /// Reads the schema, then gives the statements on its tables the steps and bytes that a file of that size can need.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn read_schema(&self, conn: &Connection, file: &Path) -> rusqlite::Result<()> {
        conn.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
        let bytes = bytes_on_disk(file);
        for (left, at_least, per_byte) in [
            (&self.steps_left, STEPS_AT_LEAST, STEPS_PER_BYTE),
            (&self.text_bytes_left, TEXT_BYTES_AT_LEAST, TEXT_BYTES_PER_BYTE),
            (&self.key_bytes_left, KEY_BYTES_AT_LEAST, KEY_BYTES_PER_BYTE),
        ] {
            left.store(at_least.saturating_add(bytes.saturating_mul(per_byte)), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Looks at a row before a command does: what a command keeps of the rows must not outgrow the file.
    ///
    /// # Errors
    /// SQLite's words for too large a value, and for too much memory.
    pub fn look_at(&self, row: &Row<'_>) -> rusqlite::Result<()> {
        for column in 0..row.as_ref().column_count() {
            let (ValueRef::Text(value) | ValueRef::Blob(value)) = row.get_ref(column)? else { continue };
            if value.len() > FREE_BYTES {
                self.hand_out(row.as_ref().column_name(column)?, value.len())?;
            }
        }
        Ok(())
    }

    /// Looks at the rows of a list that a command keeps.
    ///
    /// # Errors
    /// Those of [`Bounds::look_at`], and SQLite's words for too much memory.
    pub fn list(&self) -> impl FnMut(&Row<'_>) -> rusqlite::Result<()> {
        let least = self.text_bytes_left.load(Ordering::Relaxed).saturating_sub(MOST_BYTES_OF_LIST);
        move |row| {
            self.look_at(row)?;
            match self.text_bytes_left.load(Ordering::Relaxed) < least {
                true => Err(refused(TOO_MUCH)),
                false => Ok(()),
            }
        }
    }

    /// Accounts for a value.
    ///
    /// # Errors
    /// Those of [`Bounds::look_at`].
    pub fn hand_out(&self, column: &str, bytes: usize) -> rusqlite::Result<()> {
        let Some(counted) = bytes.checked_sub(FREE_BYTES).filter(|counted| *counted > 0) else {
            return Ok(());
        };
        let is_text = TEXTS.contains(&column);
        if !is_text && bytes > MOST_BYTES_OF_KEY {
            return Err(refused(ffi::SQLITE_TOOBIG));
        }
        let left = if is_text { &self.text_bytes_left } else { &self.key_bytes_left };
        match left.load(Ordering::Relaxed).checked_sub(counted as u64) {
            Some(rest) => left.store(rest, Ordering::Relaxed),
            None => return Err(refused(TOO_MUCH)),
        }
        Ok(())
    }

    /// Lets the connection read these tables from now on, and no others. Every other one is refused while a statement is
    /// compiled.
    pub fn may_read(&self, tables: &BTreeSet<String>) {
        self.readable.write().unwrap_or_else(PoisonError::into_inner).clone_from(tables);
    }
}

fn refused(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

/// The bounds that need no knowledge of the file: enough to read a schema with. The steps that are left may be moved.
///
/// # Errors
/// SQLite's error.
pub(crate) fn limit(conn: &mut Connection) -> rusqlite::Result<Arc<AtomicU64>> {
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
        spent == 0 || stop::is_asked()
    };
    conn.progress_handler(STEPS_BETWEEN, Some(spend))?;
    Ok(steps_left)
}

/// Bounds what SQLite allocates in this process. Called before the process of a command opens the file that it examines;
/// servers never call it. Without effect if SQLite is in use already, as in a test.
pub fn bound_memory() {
    let _bounded = colibri_wal::bound_heap(HEAP_BYTES);
}

/// Returns whether a failure for lack of memory is the file's: it asked for more than its bounds. Otherwise the machine has too little.
pub(super) fn is_of_file(failure: &ffi::Error) -> bool {
    failure.extended_code == TOO_MUCH || colibri_wal::heap_peak() > HEAP_BYTES / 2
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
