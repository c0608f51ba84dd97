//! Opens the database, in the order of store#opening: nothing is written before the file is known to be
//! Colibri's and sound, and this process counts as alive before its first row.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_runtime::chain::store::Access;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::db::{Db, LogGap};
use crate::sqlite::open::connection::{self, Location};
use crate::sqlite::open::creation;
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::header::{self, APPLICATION_ID, Header};
use crate::sqlite::open::identity;
use crate::sqlite::open::identity::Place;
use crate::sqlite::open::integrity::{self, TailCheck};
use crate::sqlite::open::log_gap;
use crate::sqlite::open::migrate::{self, Migration};
use crate::sqlite::open::network_fs;
use crate::sqlite::open::placement;
use crate::sqlite::open::preflight;
use crate::sqlite::open::process::{self, ProcessLock, ProcessRecord};
use crate::sqlite::open::reading;
use crate::sqlite::open::rights;
use crate::sqlite::open::sweep;
use crate::sqlite::open::turn;
use crate::sqlite::write::log_file::LogFile;
use crate::sqlite::write::queue::WriteQueue;
use crate::sqlite::write::transactions::Files;

/// The path that means a database in memory.
pub const MEMORY: &str = ":memory:";

/// How long a command waits for the starts of others: half of the time that a start has by default.
pub const WAIT: Duration = Duration::from_secs(15);

/// How long a call in READONLY waits for a new copy of a database that changes all the time.
const REREAD: Duration = Duration::from_secs(2);

/// The most bytes of a file's name, on all common file systems.
const LONGEST_NAME: usize = 255;

/// What opening a database depends on.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The database file, or [`MEMORY`].
    pub path: PathBuf,
    /// READONLY: nothing is created, migrated or locked (store#read-only).
    pub read_only: bool,
    /// Whether commits are synced before replies (`COLIBRI_DURABILITY=full`).
    pub sync: bool,
    /// See [`crate::sqlite::open::process::boot_id`].
    pub boot_id: String,
    /// The code for the rows of dead processes, as the catalogue names it.
    pub process_aborted: &'static str,
    /// Wall clock, RFC 3339 with milliseconds: when those rows are closed.
    pub now: String,
    /// The server's migrations.
    pub migrations: &'static [Migration],
    /// What boot looks at besides the log of calls.
    pub tail_checks: &'static [TailCheck],
    /// Upper bound of the file in pages, for tests of a full disk.
    pub max_pages: Option<u32>,
    /// How long to try again while another start is at work on the file, or another program holds it.
    pub wait: Duration,
}

/// An open database, to be handed to [`crate::ServerStore::attach`].
#[derive(Debug)]
pub struct Opened {
    pub(crate) db: Db,
    pub(crate) location: Location,
    pub(crate) queue: Option<WriteQueue>,
    pub(crate) files: Option<Files>,
    pub(crate) process: Option<ProcessLock>,
    /// How a database that is only read is opened again; `None` for one that is written.
    pub(crate) read_only: Option<StoreOptions>,
    /// The schema version it is at now.
    pub schema_version: i64,
    /// Migrations that this start ran.
    pub migrated: usize,
    /// Calls of dead processes that this start closed. Worth one warning when above 0 (store#process-locks).
    pub aborted: usize,
    /// What the operator should know, one sentence each.
    pub(crate) warnings: Vec<String>,
}

impl Opened {
    /// Returns the database, for what boot does before the store takes over.
    pub fn db(&self) -> &Db {
        &self.db
    }
}

/// Opens, checks, migrates and registers.
///
/// # Errors
/// Each ends the boot; see [`OpenError`]. For newer and foreign files no byte has changed.
pub fn init_db(options: &StoreOptions) -> Result<Opened, OpenError> {
    if options.path != Path::new(MEMORY) {
        admit(&options.path, options.read_only)?;
    }
    let until = Instant::now() + options.wait;
    if options.read_only {
        return turn::after_starts(&options.path, until, turn::is_of_a_start, || {
            init_read_only(options, until)
        });
    }
    turn::while_locked(until, || init_read_write(options, until))
}

/// Checks whether a database can be used where it lies, before it is opened.
///
/// # Errors
/// The place is on a network file system, this process lacks a right, or its name leads to a folder or a device.
fn admit(path: &Path, read_only: bool) -> Result<(), OpenError> {
    if let Some(kind) = network_fs::network_file_system(path) {
        return Err(OpenError::Network { path: path.display().to_string(), kind });
    }
    if !read_only {
        fits(path)?;
    }
    rights::check(path, read_only)?;
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(OpenError::NoFile { path: path.display().to_string() });
    }
    Ok(())
}

/// Checks that the names of the files next to a database are not too long.
fn fits(path: &Path) -> Result<(), OpenError> {
    // Side files are next to the file that a link leads to.
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = |path: &Path| path.file_name().map_or(0, std::ffi::OsStr::len);
    let (bytes, longest) = (name(&file), name(&process::lock_path(&file, "")));
    if longest <= LONGEST_NAME {
        return Ok(());
    }
    let path = path.display().to_string();
    Err(OpenError::LongName { path, bytes, beside: longest - bytes, most: LONGEST_NAME })
}

/// Makes the checks that a start makes before it opens a database, and creates nothing; returns whether there is a database. An
/// empty file does not count, unless nothing may be written.
///
/// # Errors
/// Those of [`admit`], [`OpenError::Missing`], [`OpenError::Orphan`].
pub fn is_there(path: &Path, read_only: bool) -> Result<bool, OpenError> {
    admit(path, read_only)?;
    if read_only {
        return true_name(path).map(|_| true);
    }
    let folder = folder_of(path);
    if !folder.exists() {
        return Ok(false);
    }
    let file = match path.canonicalize() {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => absent(path, folder)?,
        Err(error) => return Err(OpenError::from_io(path, "cannot find it", &error)),
    };
    if std::fs::metadata(&file).is_ok_and(|found| found.len() > 0) {
        return Ok(true);
    }
    creation::refuse_orphan(&file, path)?;
    Ok(false)
}

/// Returns the true name of a file that must exist.
fn true_name(path: &Path) -> Result<PathBuf, OpenError> {
    path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::Missing { path: path.display().to_string() },
        _ => OpenError::from_io(path, "cannot find it", &error),
    })
}

/// Returns the folder that a database is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn init_read_write(options: &StoreOptions, until: Instant) -> Result<Opened, OpenError> {
    let path = options.path.as_path();
    let engine = |error: rusqlite::Error| OpenError::from_sqlite(path, &error);
    let gap = log_gap(path);
    let (location, created) = place(path, options.migrations, until)?;
    location.file().map_or(Ok(()), |file| preflight::before_writing(file, left(until)))?;
    let found = location.file().map(|file| placement::check(file, path, Access::Write)).transpose()?;
    let db = Db::new(connection::read_write(&location).map_err(engine)?);
    let conn = db.sqlite().map_err(engine)?;
    // SQLite's own wait counts against the time that this start has.
    let wait = |limit| connection::wait_for_locks(conn, limit).map_err(engine);
    wait(left(until))?;
    let header = header::read(conn, path, migrate::latest(options.migrations))?;

    // From here to the end no other Colibri process writes, or declares this one dead while it is half registered.
    let mut queue = match location.file() {
        Some(file) => Some(WriteQueue::open(file).map_err(|error| queue_error(path, &error))?),
        None => None,
    };
    if let Some(queue) = &mut queue {
        queue.enter(left(until)).map_err(|error| queue_error(path, &error))?;
    }
    if let Some(file) = location.file() {
        creation::remove_unfinished(file)
            .map_err(|error| OpenError::from_io(path, "cannot remove what a dead creator left", &error))?;
    }
    wait(left(until))?;
    integrity::check(&db, path, location.file(), options.tail_checks)?;
    connection::settle(conn).map_err(engine)?;
    enable_wal(conn, path, &location)?;
    if header.application_id == 0 {
        conn.pragma_update(None, "application_id", APPLICATION_ID).map_err(engine)?;
    }
    // A file that had no log until now has one after its next read.
    migrate::user_version(conn).map_err(engine)?;
    let mut files = opened_files(&location, options)?;
    if let Some(found) = found {
        placement::unchanged(found, path)?;
    }
    if let Some(log) = files.as_mut().and_then(|files| files.log.as_mut()) {
        renew_log(conn, log, options)?;
    }
    // Another start may have made the file, or noted whose log it is, since this one looked.
    let gap =
        gap.filter(|_| !location.file().and_then(placement::is_noted).unwrap_or(false) && has_calls(&db));
    if let (Some(queue), Some(file)) = (&mut queue, location.file()) {
        placement::note(queue, file).map_err(|error| queue_error(path, &error))?;
    }
    wait(left(until))?;
    let migrated = created + migrate::migrate(conn, options.migrations, path)?;
    let (process, aborted) = match location.file() {
        Some(file) => {
            let (process, aborted) = register(conn, file, options)?;
            (Some(process), aborted)
        }
        None => (None, 0),
    };
    if let Some(pages) = options.max_pages {
        conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).map_err(engine)?;
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(engine)?;
    wait(connection::BUSY_TIMEOUT)?;
    if let Some(queue) = &mut queue {
        queue.leave();
    }
    let schema_version = migrate::user_version(conn).map_err(engine)?;
    let warnings = gap_warning(path, gap);
    let read_only = None;
    Ok(Opened { db, location, queue, files, process, read_only, schema_version, migrated, aborted, warnings })
}

fn init_read_only(options: &StoreOptions, until: Instant) -> Result<Opened, OpenError> {
    let path = options.path.as_path();
    let latest = migrate::latest(options.migrations);
    let read_only = |location: &Location| connection::read_only_within(location, left(until));
    let (db, location, header) = open_read_only(path, latest, until, read_only)?;
    integrity::check(&db, path, location.file(), options.tail_checks)?;
    let schema_version = header.user_version;
    if schema_version < latest {
        return Err(OpenError::Older { found: schema_version, latest });
    }
    let files = opened_files(&location, options)?;
    db.sqlite()
        .and_then(|conn| connection::wait_for_locks(conn, connection::BUSY_TIMEOUT))
        .map_err(|error| OpenError::from_sqlite(path, &error))?;
    Ok(Opened {
        warnings: gap_warning(path, db.log_gap),
        db,
        location,
        queue: None,
        files,
        process: None,
        read_only: Some(StoreOptions { wait: REREAD, ..options.clone() }),
        schema_version,
        migrated: 0,
        aborted: 0,
    })
}

/// Returns whether the log of calls is known to have a row.
fn has_calls(db: &Db) -> bool {
    db.query_one("SELECT EXISTS (SELECT 1 FROM actions)", &[], |row| row.get(0)).unwrap_or(false)
}

/// Says of which file calls may be missing.
fn gap_warning(path: &Path, gap: Option<LogGap>) -> Vec<String> {
    gap.map(|gap| format!("calls may be missing from {}: {gap}", path.display())).into_iter().collect()
}

/// Returns what is left of the time that a start waits for others.
fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

/// Opens a connection that cannot write, to a file that is Colibri's and not newer than `latest`, or to a private copy of it.
pub(crate) fn open_read_only(
    path: &Path,
    latest: i64,
    until: Instant,
    connect: impl Fn(&Location) -> rusqlite::Result<Db>,
) -> Result<(Db, Location, Header), OpenError> {
    let file = true_name(path)?;
    preflight::before_reading(&file)?;
    let found = placement::check(&file, path, Access::Read)?;
    let log_gap = log_gap(&file);
    let open = |location: &Location| {
        let engine = |error| OpenError::from_sqlite(path, &error);
        let db = connect(location).map_err(engine)?;
        let header = header::read(db.sqlite().map_err(engine)?, path, latest)?;
        Ok((db, header))
    };
    let ((mut db, header), location) =
        reading::shared_or_copied((&file, path), until, open, |error: &OpenError| error)?;
    placement::unchanged(found, path)?;
    db.log_gap = log_gap;
    Ok((db, location, header))
}

/// Creates folder and database if they are missing, and finds the file's one true name; also returns how many migrations a
/// new database has got.
fn place(path: &Path, migrations: &[Migration], until: Instant) -> Result<(Location, usize), OpenError> {
    if path == Path::new(MEMORY) {
        return Ok((Location::Memory, 0));
    }
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)
        .map_err(|error| OpenError::from_io(path, "cannot create its folder", &error))?;
    let file = match path.canonicalize() {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => absent(path, folder)?,
        Err(error) => return Err(OpenError::from_io(path, "cannot find it", &error)),
    };
    let migrated = creation::create_if_missing(&file, path, migrations, left(until))?;
    // A link to a missing file has kept the place.
    let file = file
        .canonicalize()
        .map_err(|error| OpenError::from_io(path, "cannot find it after creating it", &error))?;
    Ok((Location::File(file), migrated))
}

/// Returns the one true name of a file that does not exist yet.
fn absent(path: &Path, folder: &Path) -> Result<PathBuf, OpenError> {
    let name = path.file_name().ok_or_else(|| OpenError::Unusable {
        path: path.display().to_string(),
        reason: "the path names no file; give one that ends in a file's name".to_owned(),
    })?;
    let folder =
        folder.canonicalize().map_err(|error| OpenError::from_io(path, "cannot find its folder", &error))?;
    Ok(folder.join(name))
}

fn enable_wal(conn: &Connection, path: &Path, location: &Location) -> Result<(), OpenError> {
    let got: String = conn
        .pragma_update(None, "page_size", creation::PAGE_BYTES)
        .and_then(|()| conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)))
        .map_err(|error| OpenError::from_sqlite(path, &error))?;
    let fits = got == "wal" || (matches!(location, Location::Memory) && got == "memory");
    if fits { Ok(()) } else { Err(OpenError::NotWal { got }) }
}

/// Returns the files that the connection has open, SQLite's log and its index among them: it has read already.
fn opened_files(location: &Location, options: &StoreOptions) -> Result<Option<Files>, OpenError> {
    let Some(file) = location.file() else { return Ok(None) };
    let look = || {
        let log = if options.read_only { None } else { Some(LogFile::open(file)?) };
        Ok(Files { place: Arc::new(Place::of(file, &options.path)?), log, durable: options.sync })
    };
    look()
        .map(Some)
        .map_err(|error: io::Error| OpenError::from_io(&options.path, "cannot find its files", &error))
}

/// Brings to the disk what an earlier process may have failed to sync ([`LogFile::renew`]), while SQLite's write lock keeps
/// other programs from writing to the log.
fn renew_log(conn: &Connection, log: &mut LogFile, options: &StoreOptions) -> Result<(), OpenError> {
    let path = options.path.as_path();
    let engine = |error: rusqlite::Error| OpenError::from_sqlite(path, &error);
    let io = |error: io::Error| {
        OpenError::from_io(path, "cannot write its log (the -wal file beside it) anew", &error)
    };
    if !options.sync || log.end().map_err(io)? == 0 {
        return Ok(());
    }
    conn.execute_batch("BEGIN IMMEDIATE").map_err(engine)?;
    let renewed = log.renew();
    conn.execute_batch("ROLLBACK").map_err(engine)?;
    renewed.map_err(io)
}

/// Creates this process's lock file and closes what dead processes left open, in one transaction.
fn register(
    conn: &Connection,
    file: &Path,
    options: &StoreOptions,
) -> Result<(ProcessLock, usize), OpenError> {
    let path = options.path.as_path();
    let engine = |error: rusqlite::Error| OpenError::from_sqlite(path, &error);
    conn.execute_batch("BEGIN IMMEDIATE").map_err(engine)?;
    let process = identity::file_id(file)
        .and_then(|id| ProcessLock::create(file, &options.boot_id, &ProcessRecord::own(id)))
        .map_err(|error| OpenError::from_io(path, "cannot create the process lock file beside it", &error))?;
    let aborted = sweep::sweep(conn, file, options.process_aborted, &options.now).map_err(engine)?;
    conn.execute_batch("COMMIT").map_err(engine)?;
    Ok((process, aborted))
}

fn queue_error(path: &Path, error: &io::Error) -> OpenError {
    OpenError::from_io(path, "cannot use the write queue beside it", error)
}
