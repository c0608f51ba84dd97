//! A look at a database from outside: what `colibri doctor` and the demonstration read. Nothing here
//! writes, creates or removes anything but what SQLite itself keeps beside an open file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use colibri_runtime::chain::store::Access;
use colibri_runtime::handler::Fault;
use rusqlite::Connection;

use crate::db::sqlite::handle::{reason, storage};
use crate::db::{Db, LogGap};
use crate::log::verify::{ActionsReport, verify_actions};
use crate::side_file;
use crate::sqlite::look::schema::{self, Difference, Schema, Shape};
use crate::sqlite::open::connection::{self, Location};
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::header;
pub use crate::sqlite::open::header::APPLICATION_ID;
use crate::sqlite::open::integrity;
use crate::sqlite::open::migrate::{self, Migration};
use crate::sqlite::open::placement;
use crate::sqlite::open::preflight;
use crate::sqlite::open::process::{self, Life};
use crate::sqlite::open::reading;
use crate::sqlite::open::running::running_processes;
use crate::sqlite::open::turn;
use crate::sqlite::open::{WAIT, log_gap};

/// The most complaints of one check that are fetched; more would not help a reader.
const MOST_COMPLAINTS: usize = 20;

/// Why a database cannot be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Unreadable {
    /// What a start would report.
    pub kind: OpenError,
    /// What was refused; without the path if SQLite refused it.
    text: String,
}

impl From<OpenError> for Unreadable {
    fn from(kind: OpenError) -> Self {
        Self { text: kind.to_string(), kind }
    }
}

impl Unreadable {
    fn of_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        Self { kind: OpenError::from_sqlite(path, error), text: reason(error) }
    }
}

/// A database opened for reading.
#[derive(Debug)]
pub struct Inspection {
    db: Db,
    path: PathBuf,
    /// What the user calls it.
    shown: PathBuf,
    location: Location,
    expected: Schema,
    shape: Shape,
}

/// What a file says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Whose file it is.
    pub application_id: i64,
    /// The last migration that ran.
    pub schema_version: i64,
    /// User tables.
    pub tables: i64,
}

/// Calls without an end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Running {
    /// Calls of live processes.
    pub alive: usize,
    /// Calls of processes that have ended.
    pub dead: usize,
}

/// A closed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedCall {
    /// The call's number.
    pub sequence_no: i64,
    /// The tool.
    pub tool: String,
    /// How it ended.
    pub outcome: String,
    /// The error code, unless the call succeeded.
    pub error_code: Option<String>,
    /// Whole milliseconds.
    pub duration_ms: Option<i64>,
    /// The hash of the row closed before this one.
    pub prev_hash: String,
    /// This row's hash.
    pub row_hash: String,
}

impl Inspection {
    /// Opens the file for reading, and compares its schema with the one that its version should have: only tables that
    /// agree are read. If SQLite cannot share the log, a private copy is read (store#read-only). Waits for a start that has migrations to run.
    ///
    /// # Errors
    /// See [`Unreadable`].
    pub fn open(path: &Path, migrations: &[Migration]) -> Result<Self, Unreadable> {
        let latest = migrate::latest(migrations);
        let is_older = |look: &Self| look.number("PRAGMA user_version").is_ok_and(|found| found < latest);
        let until = Instant::now() + WAIT;
        turn::after_starts(
            path,
            until,
            |look: &Result<Self, Unreadable>| look.as_ref().is_ok_and(is_older),
            || Self::connect(path, migrations, until),
        )
    }

    fn connect(path: &Path, migrations: &[Migration], until: Instant) -> Result<Self, Unreadable> {
        // Side files lie beside the file itself, not beside a link to it.
        let shown = path;
        let path = path.canonicalize().map_err(|error| Unreadable {
            kind: OpenError::from_io(shown, "cannot find it", &error),
            text: error.to_string(),
        })?;
        placement::check(&path, shown, Access::Read)?;
        preflight::before_reading(&path)?;
        let log_gap = log_gap(&path);
        let examine = |location: &Location| {
            connection::examine(location).map_err(|error| Unreadable::of_sqlite(shown, &error))
        };
        let (mut db, location) =
            reading::shared_or_copied((&path, shown), until, examine, |error: &Unreadable| &error.kind)?;
        let (expected, shape) = shape_of(&db, migrations).map_err(|fault| {
            let (path, reason) = (shown.display().to_string(), fault.to_string());
            Unreadable { text: reason.clone(), kind: OpenError::Unusable { path, reason } }
        })?;
        db.may_read(&shape.readable);
        db.log_gap = log_gap;
        Ok(Self { db, path, shown: shown.to_owned(), location, expected, shape })
    }

    /// Returns where the schema differs from the one that its version should have.
    pub fn differences(&self) -> Vec<(String, Difference)> {
        self.shape.differences(&self.expected).map(|(object, how)| (object.to_owned(), how)).collect()
    }

    /// Returns why a start would refuse the file by its header: whose it is, and which version.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn refused_by_header(
        &self,
        migrations: &[Migration],
        read_only: bool,
    ) -> Result<Option<OpenError>, Fault> {
        let (found, latest) = (self.header()?, migrate::latest(migrations));
        let header =
            header::Header { application_id: found.application_id, user_version: found.schema_version };
        let refused = header::admit(header, found.tables > 0, &self.shown, latest).err();
        let older = read_only && found.schema_version < latest;
        Ok(refused.or(older.then_some(OpenError::Older { found: found.schema_version, latest })))
    }

    /// Returns why a start would refuse the file by the end of its log.
    pub fn refused_by_ends(&self) -> Option<OpenError> {
        if !self.shape.readable.contains("actions") {
            return None;
        }
        integrity::ends(&self.db, &[]).err()
    }

    /// Returns why calls may be missing from the file.
    pub fn log_gap(&self) -> Option<LogGap> {
        self.db.log_gap()
    }

    /// Returns the bytes of the write-ahead log; 0 without one.
    pub fn wal_bytes(&self) -> u64 {
        wal_bytes(&self.path)
    }

    /// Returns how many lock files beside the database belong to ended processes.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn dead_lock_files(&self) -> std::io::Result<usize> {
        let files = process::lock_files(&self.path)?;
        Ok(files.iter().filter(|file| matches!(process::life(file), Life::Dead(_))).count())
    }

    /// Returns what the file says it is.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn header(&self) -> Result<Header, Fault> {
        Ok(Header {
            application_id: self.number("PRAGMA application_id")?,
            schema_version: self.number("PRAGMA user_version")?,
            tables: self.number(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'",
            )?,
        })
    }

    /// See [`integrity`].
    ///
    /// # Errors
    /// SQLite's error, also for a badly damaged file.
    pub fn integrity(&self) -> Result<Vec<String>, Fault> {
        integrity(&self.db, &self.shape)
    }

    /// See [`dangling_references`].
    ///
    /// # Errors
    /// SQLite's error.
    pub fn dangling_references(&self) -> Result<Vec<String>, Fault> {
        dangling_references(&self.db, &self.shape)
    }

    /// Lets `read` see the database at one moment, while others may write. The second connection sees the same
    /// moment and may go to another thread. It is `None` if another process wrote just then, or if the database is damaged
    /// in a way that a new connection rejects.
    ///
    /// # Errors
    /// SQLite's error, if it cannot read at all.
    pub fn at_one_moment<T>(&self, read: impl FnOnce(&Db, Option<Db>) -> T) -> Result<T, Fault> {
        let beside = connection::examine(&self.location).ok();
        let before = beside.as_ref().and_then(version_seen);
        let transaction = self.db.sqlite().and_then(Connection::unchecked_transaction).map_err(storage)?;
        // A transaction sees what its first read sees.
        self.db.query_one("SELECT count(*) FROM sqlite_master", &[], |_| Ok(()))?;
        // No process has committed between these two reads, and so none between the two transactions.
        let same = beside.filter(|beside| {
            let begun = beside.sqlite().and_then(|conn| conn.execute_batch("BEGIN")).is_ok();
            begun && before.is_some() && version_seen(beside) == before
        });
        let result = read(&self.db, same);
        transaction.finish().map_err(storage)?;
        Ok(result)
    }

    /// Counts the calls without an end, by whether their process lives. `None` before the table exists.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn running(&self) -> Result<Option<Running>, Fault> {
        if !self.has_log()? {
            return Ok(None);
        }
        let mut running = Running::default();
        for boot_id in running_processes(&self.db)? {
            let over = process::life(&process::lock_path(&self.path, &boot_id)).is_over();
            if over { running.dead += 1 } else { running.alive += 1 }
        }
        Ok(Some(running))
    }

    /// Recomputes the audit log. `None` before the table exists.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn verify_log(&self) -> Result<Option<ActionsReport>, Fault> {
        if !self.has_log()? {
            return Ok(None);
        }
        // One read transaction, so that head and rows are of one moment while others write.
        let transaction = self.db.sqlite().and_then(Connection::unchecked_transaction).map_err(storage)?;
        let report = verify_actions(&self.db)?;
        transaction.finish().map_err(storage)?;
        Ok(Some(report))
    }

    /// Returns the closed calls in the order of their chain.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn closed_calls(&self) -> Result<Vec<ClosedCall>, Fault> {
        self.db.query_all(
            "SELECT sequence_no, tool, outcome, error_code, duration_ms, prev_hash, row_hash
             FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no",
            &[],
            |row| {
                Ok(ClosedCall {
                    sequence_no: row.get(0)?,
                    tool: row.get(1)?,
                    outcome: row.get(2)?,
                    error_code: row.get(3)?,
                    duration_ms: row.get(4)?,
                    prev_hash: row.get(5)?,
                    row_hash: row.get(6)?,
                })
            },
        )
    }

    fn has_log(&self) -> Result<bool, Fault> {
        let known = self.expected.objects.contains_key("table actions");
        Ok(known || self.shape.found.objects.contains_key("table actions"))
    }

    fn number(&self, sql: &str) -> Result<i64, Fault> {
        self.db.query_one(sql, &[], |row| row.get(0))
    }
}

/// Runs the full integrity check; returns its complaints, none for a sound file.
///
/// # Errors
/// SQLite's error, also for a badly damaged file.
pub fn integrity(db: &Db, shape: &Shape) -> Result<Vec<String>, Fault> {
    pages(db, shape, "integrity_check")
}

/// Runs one of SQLite's checks: of the whole file if the schema is the expected one, otherwise of the tables that are. The check
/// of another table would compute its columns and indexes, and run what its module does.
fn pages(db: &Db, shape: &Shape, check: &str) -> Result<Vec<String>, Fault> {
    let lines = |of: &str| {
        let mut lines: Vec<String> = db.query_all(&format!("PRAGMA {check}({of})"), &[], |row| row.get(0))?;
        lines.retain(|line| line != "ok");
        Ok::<_, Fault>(lines)
    };
    if shape.whole {
        return lines(&MOST_COMPLAINTS.to_string());
    }
    let mut complaints = Vec::new();
    for table in &shape.readable {
        complaints.extend(lines(&format!("\"{table}\""))?);
        complaints.truncate(MOST_COMPLAINTS);
    }
    Ok(complaints)
}

/// Up to this size a verification also looks every row up in every index.
const LOOKED_UP_BYTES: i64 = 256 * 1024 * 1024;

/// What SQLite says of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Sanity {
    /// Its complaints, none for a sound file.
    pub complaints: Vec<String>,
    /// Every row was looked up in every index, too.
    pub indexes: bool,
}

/// Runs the integrity check of a verification. Looking rows up in indexes is random reading. Beyond
/// `LOOKED_UP_BYTES` it would take longer than everything else together, and is left to [`integrity`].
///
/// # Errors
/// SQLite's error, also for a badly damaged file.
pub fn sanity(db: &Db, shape: &Shape) -> Result<Sanity, Fault> {
    let number = |sql: &str| db.query_one(sql, &[], |row| row.get::<i64>(0));
    let bytes = number("PRAGMA page_count")?.saturating_mul(number("PRAGMA page_size")?);
    let indexes = bytes <= LOOKED_UP_BYTES;
    let check = if indexes { "integrity_check" } else { "quick_check" };
    Ok(Sanity { complaints: pages(db, shape, check)?, indexes })
}

/// Returns the schema that the file's version should have, and how the file compares. If it has the newest schema under another
/// number, only the number is wrong.
fn shape_of(db: &Db, migrations: &[Migration]) -> Result<(Schema, Shape), Fault> {
    let version = db.query_one("PRAGMA user_version", &[], |row| row.get(0))?;
    for expected in [schema::expected_at(migrations, version)?, schema::expected(migrations)?] {
        let shape = schema::compare(db, &expected)?;
        if shape.whole {
            return Ok((expected, shape));
        }
    }
    let expected = schema::expected_at(migrations, version)?;
    let shape = schema::compare(db, &expected)?;
    Ok((expected, shape))
}

/// Returns a number that changes with each commit of others that becomes visible to the connection.
fn version_seen(db: &Db) -> Option<i64> {
    db.query_one("PRAGMA data_version", &[], |row| row.get(0)).ok()
}

/// Returns rows that refer to missing rows: `table row 7 refers to a missing row of other_table`. Checks only tables
/// that may be read and whose referenced tables may be.
///
/// # Errors
/// SQLite's error.
pub fn dangling_references(db: &Db, shape: &Shape) -> Result<Vec<String>, Fault> {
    let mut complaints = Vec::new();
    for table in &shape.readable {
        let parents =
            db.query_all(&format!("PRAGMA foreign_key_list(\"{table}\")"), &[], |row| row.get::<String>(2))?;
        if parents.iter().any(|parent| !shape.readable.contains(parent)) {
            continue;
        }
        db.query_each(&format!("PRAGMA foreign_key_check(\"{table}\")"), &[], |row| {
            let (table, id, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let id = id.map_or_else(String::new, |id| format!(" row {id}"));
            complaints.push(format!("{table}{id} refers to a missing row of {parent}"));
            Ok(complaints.len() < MOST_COMPLAINTS)
        })?;
    }
    complaints.truncate(MOST_COMPLAINTS);
    Ok(complaints)
}

fn wal_bytes(path: &Path) -> u64 {
    std::fs::metadata(side_file::named(path, "-wal")).map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rusqlite::Connection;

    use super::*;
    use crate::migrations::MIGRATIONS;

    fn file(sql: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd name %3f?.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        (folder, path)
    }

    #[test]
    fn a_look_reads_the_header_and_finds_nothing_wrong_with_a_sound_file() {
        let (_folder, path) = file("PRAGMA application_id = 7; PRAGMA user_version = 3; CREATE TABLE t (n);");
        let look = Inspection::open(&path, MIGRATIONS).unwrap();
        assert_eq!(look.header().unwrap(), Header { application_id: 7, schema_version: 3, tables: 1 });
        assert_eq!(look.integrity().unwrap(), Vec::<String>::new());
        assert_eq!(look.running().unwrap(), None);
        assert_eq!(look.verify_log().unwrap(), None);
    }

    #[test]
    fn the_second_connection_sees_the_moment_of_the_first_or_is_not_there() {
        let (_folder, path) = file("PRAGMA journal_mode = WAL; CREATE TABLE t (n);");
        let writer = Connection::open(&path).unwrap();
        let stop = AtomicBool::new(false);
        let count = |db: &Db| db.query_one("SELECT count(*) FROM t", &[], |row| row.get::<i64>(0)).unwrap();
        let seen: Vec<Option<bool>> = std::thread::scope(|scope| {
            let (stop, look) = (&stop, Inspection::open(&path, MIGRATIONS).unwrap());
            look.db.may_read(&BTreeSet::from(["t".to_owned()]));
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    writer.execute("INSERT INTO t VALUES (1)", []).unwrap();
                }
            });
            let same = |db: &Db, beside: Option<Db>| {
                beside.map(|beside| {
                    beside.may_read(&BTreeSet::from(["t".to_owned()]));
                    count(db) == count(&beside)
                })
            };
            let seen = (0..200).map(|_| look.at_one_moment(same)).collect::<Result<_, Fault>>();
            stop.store(true, Ordering::Relaxed);
            seen.unwrap()
        });
        assert!(seen.contains(&Some(true)) && !seen.contains(&Some(false)), "{seen:?}");
    }

    #[test]
    fn dangling_references_are_named() {
        let (_folder, path) = file(
            "PRAGMA foreign_keys = OFF; CREATE TABLE a (id INTEGER PRIMARY KEY);
             CREATE TABLE b (a INTEGER REFERENCES a (id)); INSERT INTO b VALUES (9);",
        );
        let look = Inspection::open(&path, MIGRATIONS).unwrap();
        assert_eq!(look.dangling_references().unwrap(), Vec::<String>::new(), "not one table is Colibri's");
        let shape = Shape { readable: ["a", "b"].map(str::to_owned).into(), ..look.shape };
        assert_eq!(dangling_references(&look.db, &shape).unwrap(), ["b row 1 refers to a missing row of a"]);
    }

    #[test]
    fn a_look_at_a_missing_file_fails_and_creates_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.db");
        assert!(Inspection::open(&path, MIGRATIONS).is_err());
        assert!(!path.exists());
    }
}
