//! Which engine the servers of a run use. A test names its database by the path of a file, and on PostgreSQL that path
//! stands for a database of the run's cluster.

#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use colibri_store::db::Db;
use colibri_store::{DatabaseUrl, SessionOptions, TlsPolicy};

use crate::actions::actions;
use crate::postgres::{Database, Role};
use crate::sql::Connection;
use crate::stored::stored;

/// `postgres` runs the suites on PostgreSQL.
pub const VARIABLE: &str = "COLIBRI_TEST_ENGINE";

/// Whether the servers of this run use PostgreSQL.
pub fn is_postgres() -> bool {
    match std::env::var(VARIABLE).ok().as_deref() {
        Some("postgres") => true,
        None | Some("sqlite") => false,
        Some(other) => panic!("{VARIABLE} is {other:?}; it may be sqlite or postgres"),
    }
}

/// Ends a test on PostgreSQL, with the reason why it is SQLite's alone.
#[macro_export]
macro_rules! sqlite_only {
    ($why:literal) => {
        if $crate::engine::is_postgres() {
            eprintln!("skipped on PostgreSQL: {}", $why);
            return;
        }
    };
}

/// The variable that names the database of that path to a server, and its value.
pub fn variable(path: &Path) -> (&'static str, OsString) {
    match is_postgres() {
        true => ("COLIBRI_DATABASE_URL", database(path).url(Role::App).into()),
        false => ("COLIBRI_DB_PATH", path.into()),
    }
}

/// What `--db` takes for the database of that path.
pub fn locator(path: &Path) -> OsString {
    variable(path).1
}

/// Opens the database of that path beside the servers that use it.
pub fn open(path: impl AsRef<Path>) -> Connection {
    let path = path.as_ref();
    match is_postgres() {
        true => Connection::server(&database(path)),
        false => Connection::file(path),
    }
}

/// Opens it for the library's functions, which take a handle of the server's own.
pub fn db(path: &Path) -> Db {
    match is_postgres() {
        true => session(path, Role::App, None),
        false => Db::new(open(path).into_sqlite()),
    }
}

fn session(path: &Path, role: Role, setting: Option<(&str, &str)>) -> Db {
    let url = DatabaseUrl::parse(&database(path).url(role), TlsPolicy::Verify).expect("our own URL");
    let mut options = SessionOptions::default();
    options.settings.extend(setting.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Db::connect(&url, &options).expect("the cluster runs")
}

/// The same with the database's guards switched off.
pub fn unguarded_db(path: &Path) -> Db {
    if is_postgres() {
        return session(path, Role::Superuser, Some(("session_replication_role", "replica")));
    }
    let conn = open(path);
    conn.ignore_guards();
    Db::new(conn.into_sqlite())
}

/// Everything that a database holds: the bytes of its file, or the rows.
pub fn contents(path: &Path) -> Vec<u8> {
    match is_postgres() {
        true => {
            let conn = open(path);
            let mut stored = stored(&conn);
            stored.extend(actions(&conn).iter().map(|row| format!("{row:?}")));
            stored.join("\n").into_bytes()
        }
        false => std::fs::read(path).expect("the file is there"),
    }
}

/// Makes a copy of a database that no server uses.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    match is_postgres() {
        true => drop(database(from).copy(to)),
        false => drop(std::fs::copy(from, to).expect("the file is there")),
    }
}

/// The database that stands for a path, made at the first use. It goes with the folder that the file would be in.
fn database(path: &Path) -> Arc<Database> {
    static DATABASES: Mutex<BTreeMap<PathBuf, Arc<Database>>> = Mutex::new(BTreeMap::new());
    let mut databases = DATABASES.lock().unwrap_or_else(PoisonError::into_inner);
    let made =
        || Arc::new(Database::standing_for(path).expect("COLIBRI_TEST_ENGINE=postgres needs PostgreSQL"));
    databases.entry(path.to_owned()).or_insert_with(made).clone()
}
