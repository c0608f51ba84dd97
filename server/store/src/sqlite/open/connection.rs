//! Connections: how a file is opened, and the settings of every connection before its first statement.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::db::Db;
use crate::db::sqlite::bounds::Bounds;
use crate::sqlite::write::queue::ORDINARY_WAIT;

/// How long a statement waits for a lock that another program holds (store#settings).
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_millis(5000);
/// Prepared statements kept by a connection.
const STATEMENT_CACHE: usize = 128;

/// Where a database is, once opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    /// In memory: one connection, nothing beside it.
    Memory,
    /// A file: absolute, without symbolic links, so that every process that opens it finds the same
    /// side files.
    File(PathBuf),
    /// A file that no process can be writing, on a medium where no side files can be created.
    Immutable(PathBuf),
}

impl Location {
    /// Returns the file whose side files matter.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Memory | Self::Immutable(_) => None,
        }
    }

    /// Returns the file, whether or not it can have side files.
    fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Immutable(path) => path,
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
        Location::File(path) | Location::Immutable(path) => {
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
pub(crate) fn read_only(location: &Location) -> rusqlite::Result<Connection> {
    read_only_within(location, BUSY_TIMEOUT)
}

/// Like [`read_only`], but waits for a lock no longer than `limit`.
pub(crate) fn read_only_within(location: &Location, limit: Duration) -> rusqlite::Result<Connection> {
    let conn = open_read_only(location)?;
    wait_for_locks(&conn, limit)?;
    settle(&conn)?;
    Ok(conn)
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
    Ok(Db::examined(conn, bounds))
}

fn open_read_only(location: &Location) -> rusqlite::Result<Connection> {
    // The first connection of a process settles SQLite's options; reading needs no layer.
    let _layer = colibri_wal::register();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match location {
        Location::Memory => Connection::open_in_memory()?,
        Location::File(path) => Connection::open_with_flags(path, flags)?,
        Location::Immutable(path) => {
            Connection::open_with_flags(immutable_uri(path), flags | OpenFlags::SQLITE_OPEN_URI)?
        }
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

/// Returns the URI that tells SQLite not to look for locks or a log.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte))
            }
            // Writing to a String cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_of_a_path_are_escaped() {
        assert_eq!(immutable_uri(Path::new("/a b/c?d#e%.db")), "file:///a%20b/c%3Fd%23e%25.db?immutable=1");
    }
}
