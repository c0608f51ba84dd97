//! Connections: how a file is opened, and the settings of every connection before its first statement.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::db::Db;
use crate::db::sqlite::bounds::Bounds;
use crate::db::sqlite::handle::Kept;
use crate::sqlite::open::private_copy::PrivateCopy;
use crate::sqlite::write::queue::ORDINARY_WAIT;

/// How long a statement waits for a lock that another program holds (store#settings).
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_millis(5000);
/// Prepared statements kept by a connection.
const STATEMENT_CACHE: usize = 128;

/// Where a database is, once opened.
#[derive(Debug, Clone)]
pub(crate) enum Location {
    /// In memory: one connection, nothing beside it.
    Memory,
    /// A file: absolute, without symbolic links, so that every process that opens it finds the same
    /// side files.
    File(PathBuf),
    /// A copy of a file whose log this process cannot share (store#read-only).
    Copy(Arc<PrivateCopy>),
}

impl Location {
    /// Returns the file that is shared with other processes.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Memory | Self::Copy(_) => None,
        }
    }

    /// Returns the copy that is read in place of the file.
    fn copy(&self) -> Option<Kept> {
        match self {
            Self::Copy(copy) => Some(copy.clone()),
            Self::Memory | Self::File(_) => None,
        }
    }

    /// Returns the file that SQLite opens.
    fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Copy(copy) => copy.file(),
            Self::Memory => Path::new(crate::sqlite::open::MEMORY),
        }
    }
}

/// Opens a connection that may write.
pub(crate) fn read_write(location: &Location) -> rusqlite::Result<Connection> {
    let layer = colibri_wal::register();
    let conn = match location {
        Location::Memory => Connection::open_in_memory()?,
        // The bundled SQLite takes a name that starts with `file:` for a URI; an absolute path never does.
        Location::File(_) | Location::Copy(_) => {
            let path = location.path();
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_CREATE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            // Without the layer that gathers a commit's writes, SQLite does them one by one.
            match layer {
                Ok(()) => Connection::open_with_flags_and_vfs(path, flags, colibri_wal::VFS)?,
                Err(_) => Connection::open_with_flags(path, flags)?,
            }
        }
    };
    conn.busy_timeout(BUSY_TIMEOUT)?;
    // Until the file is known to be Colibri's, closing the connection must not write to it either.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

/// Opens a connection that cannot write.
pub(crate) fn read_only(location: &Location) -> rusqlite::Result<Db> {
    read_only_within(location, BUSY_TIMEOUT)
}

/// Like [`read_only`], but waits for a lock no longer than `limit`.
pub(crate) fn read_only_within(location: &Location, limit: Duration) -> rusqlite::Result<Db> {
    let conn = open_read_only(location)?;
    wait_for_locks(&conn, limit)?;
    settle(&conn)?;
    Ok(Db::new(conn).keeping(location.copy()))
}

/// Sets how long statements of the connection wait from now on: the usual time or `limit`, whichever is shorter, but never less
/// than those of a running server.
pub(crate) fn wait_for_locks(conn: &Connection, limit: Duration) -> rusqlite::Result<()> {
    conn.busy_timeout(limit.clamp(ORDINARY_WAIT, BUSY_TIMEOUT))
}

/// Opens a connection that cannot write, to a file that may be made to mislead. It reads from the file at once, since SQLite
/// opens lazily.
pub(crate) fn examine(location: &Location) -> rusqlite::Result<Db> {
    let mut conn = open_read_only(location)?;
    let bounds = Bounds::put_on(&mut conn)?;
    settle(&conn)?;
    bounds.read_schema(&conn, location.path())?;
    Ok(Db::examined(conn, bounds).keeping(location.copy()))
}

fn open_read_only(location: &Location) -> rusqlite::Result<Connection> {
    // The first connection of a process settles SQLite's options; reading needs no layer.
    let _layer = colibri_wal::register();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match location {
        Location::Memory => Connection::open_in_memory()?,
        Location::File(_) | Location::Copy(_) => Connection::open_with_flags(location.path(), flags)?,
    };
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Applies the settings that change nothing in the file (store#settings).
pub(crate) fn settle(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    // Plans do not look at what is bound: otherwise SQLite compiles a statement that binds its LIMIT anew each time.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "recursive_triggers", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    // A reply waits for our own sync of the log, outside the lock (store#durability).
    conn.pragma_update(None, "synchronous", "NORMAL")
}
