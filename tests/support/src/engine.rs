//! Which engine the servers of a run use. A test names its database by the path of a file, and on PostgreSQL that path
//! stands for a database of the run's cluster.

#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use colibri_store::db::Db;
use colibri_store::{DatabaseUrl, SessionOptions, TlsPolicy};

use crate::postgres::{Database, Role};
use crate::sql::Connection;

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
        true => session(path, Role::App),
        false => Db::new(open(path).into_sqlite()),
    }
}

fn session(path: &Path, role: Role) -> Db {
    let url = DatabaseUrl::parse(&database(path).url(role), TlsPolicy::Verify).expect("our own URL");
    Db::connect(&url, &SessionOptions::default()).expect("the cluster runs")
}

/// The same with the database's guards switched off.
pub fn unguarded_db(path: &Path) -> Db {
    if is_postgres() {
        // A session that begins so is refused.
        let db = session(path, Role::Superuser);
        db.execute("SET session_replication_role = replica", &[]).expect("a superuser may");
        settle(&db);
        return db;
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
            let tables = conn.tables().into_iter().chain(["enters", "exits"].map(str::to_owned));
            tables.flat_map(|table| conn.bytes_of(&table)).collect()
        }
        false => std::fs::read(path).expect("the file is there"),
    }
}

/// Has PostgreSQL do what it was told without being asked for an answer.
pub fn settle(db: &Db) {
    db.query_opt("SELECT 1", &[], |_| Ok(())).expect("what was told before holds");
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
    // In a thread: the client has a runtime of its own, and a test may be inside one.
    let made = || std::thread::scope(|scope| scope.spawn(|| Database::standing_for(path)).join());
    let made = || made().expect("a database").expect("COLIBRI_TEST_ENGINE=postgres needs PostgreSQL");
    databases.entry(path.to_owned()).or_insert_with(|| Arc::new(made())).clone()
}
