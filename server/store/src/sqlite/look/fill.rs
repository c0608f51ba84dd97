//! A new file with the schema of the migrations, filled by the caller. As a backup, it gets its name only when it is complete, on disk, and
//! the caller has checked it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::db::Db;
use crate::db::sqlite::handle::reason;
use crate::part::PartError;
use crate::sqlite::look::backup::{BackupError, Unnamed};
use crate::sqlite::open::creation::PAGE_BYTES;
use crate::sqlite::open::header::APPLICATION_ID;
use crate::sqlite::open::migrate::{self, Migration};
use crate::stop;

/// Steps of SQLite's virtual machine between two looks at whether to stop: making an index takes long.
const STEPS_BETWEEN: i32 = 1_000;

/// Makes the file, and lets `fill` write its rows. Triggers and indexes come last: the rows are those of a database in which they held.
///
/// # Errors
/// [`BackupError`], or what `fill` returned. No file stays.
pub(crate) fn new_file<E: From<BackupError>>(
    to: &Path,
    migrations: &[Migration],
    fill: impl FnOnce(&Db) -> Result<(), E>,
) -> Result<Unnamed, E> {
    let failed =
        |reason: String| BackupError::File(PartError::Write { path: to.display().to_string(), reason });
    let engine = |error: rusqlite::Error| failed(reason(&error));
    let mut file = Unnamed::begin(to)?;
    let db = open(file.path()).map_err(engine)?;
    migrate::migrate(db.sqlite().map_err(engine)?, migrations, to)
        .map_err(|error| failed(error.to_string()))?;
    let later = strip(db.sqlite().map_err(engine)?).map_err(engine)?;
    fill(&db)?;
    let conn = db.into_sqlite().map_err(engine)?;
    let pages = finish(conn, &later).map_err(engine)?;
    file.complete(pages);
    Ok(file)
}

/// Opens the file. No other process knows it, and an unfinished one is removed. The cache stays below the bound that commands put on
/// SQLite's memory.
fn open(path: &Path) -> rusqlite::Result<Db> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.progress_handler(STEPS_BETWEEN, Some(stop::is_asked))?;
    conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    conn.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
    )?;
    conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA cache_size = -8192")?;
    conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(Db::new(conn))
}

/// Opens the transaction, and takes away the rows that migrations make, and all triggers and indexes; returns the texts of these.
fn strip(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    conn.execute_batch("BEGIN")?;
    let objects = |kind: &str| -> rusqlite::Result<Vec<(String, String)>> {
        let sql = "SELECT name, sql FROM sqlite_master WHERE type = ?1 AND sql IS NOT NULL ORDER BY rowid";
        conn.prepare(sql)?.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let (indexes, triggers, tables) = (objects("index")?, objects("trigger")?, objects("table")?);
    for (name, _) in &triggers {
        conn.execute_batch(&format!("DROP TRIGGER \"{name}\""))?;
    }
    for (name, _) in &indexes {
        conn.execute_batch(&format!("DROP INDEX \"{name}\""))?;
    }
    for (name, _) in &tables {
        conn.execute_batch(&format!("DELETE FROM \"{name}\""))?;
    }
    Ok(indexes.into_iter().chain(triggers).map(|(_, sql)| sql).collect())
}

/// Makes indexes and triggers again, and ends the transaction; returns how many pages the file has.
fn finish(conn: Connection, later: &[String]) -> rusqlite::Result<u64> {
    for sql in later {
        conn.execute_batch(sql)?;
    }
    conn.execute_batch("COMMIT")?;
    let pages: i64 = conn.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let _mode: String = conn.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
    conn.close().map_err(|(_, error)| error)?;
    Ok(u64::try_from(pages).unwrap_or(0))
}
