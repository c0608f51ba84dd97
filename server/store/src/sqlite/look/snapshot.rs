//! A database at one moment, for commands that read it while servers may be writing.

use std::path::Path;
use std::time::Instant;

use colibri_runtime::handler::Fault;

use crate::db::Db;
use crate::sqlite::look::schema;
use crate::sqlite::open;
use crate::sqlite::open::connection;
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::migrate::{self, Migration};
use crate::sqlite::open::network_fs;
use crate::sqlite::open::turn;

/// Opens a database for reading, inside one read transaction, which does not see later commits of others.
/// Unlike a server's start it checks only whose file it is, how old, and which tables have the shape that
/// Colibri gives them. Other tables are not read, and damage is found by the commands that look for it. Nothing is written;
/// dropping the handle ends the transaction. Waits while a start works on the file.
///
/// # Errors
/// As a READONLY start (store#read-only): [`OpenError::Missing`], [`OpenError::Foreign`], [`OpenError::Newer`],
/// [`OpenError::Older`], [`OpenError::Network`], or SQLite's error.
pub fn open_snapshot(path: &Path, migrations: &[Migration]) -> Result<Db, OpenError> {
    if let Some(kind) = network_fs::network_file_system(path) {
        return Err(OpenError::Network { path: path.display().to_string(), kind });
    }
    let until = Instant::now() + open::WAIT;
    turn::after_starts(path, until, turn::is_of_a_start, || attempt(path, migrations, until))
}

fn attempt(path: &Path, migrations: &[Migration], until: Instant) -> Result<Db, OpenError> {
    let latest = migrate::latest(migrations);
    let (db, _location, _header) = open::open_read_only(path, latest, until, connection::examine)?;
    let engine = |error: rusqlite::Error| OpenError::from_sqlite(path, &error);
    let conn = db.sqlite().map_err(engine)?;
    conn.execute_batch("BEGIN").map_err(engine)?;
    // The first read takes the snapshot, and may find that another process migrated the file since its header was read.
    let found = migrate::user_version(conn).map_err(engine)?;
    if found > latest {
        return Err(OpenError::Newer { found, supported: latest });
    }
    if found < latest {
        return Err(OpenError::Older { found, latest });
    }
    let engine =
        |fault: Fault| OpenError::Unusable { path: path.display().to_string(), reason: fault.to_string() };
    let shape =
        schema::expected(migrations).and_then(|expected| schema::compare(&db, &expected)).map_err(engine)?;
    db.may_read(&shape.readable);
    Ok(db)
}
