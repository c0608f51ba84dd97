//! The place of the database, the rights on it, and what lies beside it.

use std::fs;

use super::site::{BACKUP, DATABASE, Finding, Site};
use super::{Cause, fails};

const WAL: &str = "colibri.db-wal";
const SHM: &str = "colibri.db-shm";
const QUEUE: &str = "colibri.db.queue";
const TIMEOUT: &str = "COLIBRI_STARTUP_TIMEOUT_MS";

/// A file beside the database that no user may write.
fn shut(site: &Site, name: &str) {
    if !site.path(name).exists() {
        site.write(name, "");
    }
    site.mode(name, 0o444);
}

fn chmod(site: &Site, found: &Finding) {
    site.types_advised(found, "chmod");
}

fn another_path(site: &Site, _: &Finding) {
    site.set("COLIBRI_DB_PATH", "another.db");
}

/// A server that was killed with calls in its log, and another database in place of its own.
fn exchanged(site: &Site) {
    let mut victim = site.launch().start();
    victim.data("task_create", serde_json::json!({ "title": "in the log" }));
    victim.kill();
    site.rename(DATABASE, "earlier.db");
    fs::copy(site.path(BACKUP), site.path(DATABASE)).unwrap();
}

pub const CAUSES: &[Cause] = &[
    fails(
        "A folder that cannot be made",
        |site| {
            fs::create_dir(site.path("shut")).unwrap();
            site.mode("shut", 0o555);
            site.set("COLIBRI_DB_PATH", "shut/data/colibri.db");
        },
        "may not write files in shut",
        chmod,
    ),
    fails(
        "A folder that the server's user may not write",
        |site| {
            site.rename(DATABASE, "shut/colibri.db");
            site.mode("shut", 0o555);
            site.set("COLIBRI_DB_PATH", "shut/colibri.db");
        },
        "may not write files in ",
        chmod,
    ),
    fails(
        "A folder that the server's user may not enter",
        |site| {
            site.rename(DATABASE, "shut/colibri.db");
            site.mode("shut", 0o000);
            site.set("COLIBRI_DB_PATH", "shut/colibri.db");
        },
        "may not write files in shut",
        chmod,
    ),
    fails(
        "A file that the server's user may not write",
        |site| site.mode(DATABASE, 0o444),
        "colibri.db: Permission denied",
        chmod,
    ),
    fails(
        "A file that the server's user may not read",
        |site| site.mode(DATABASE, 0o000),
        "colibri.db: Permission denied",
        chmod,
    ),
    fails(
        "A log that may not be written",
        |site| shut(site, WAL),
        "colibri.db-wal: Permission denied",
        chmod,
    ),
    fails(
        "An index of the log that may not be written",
        |site| shut(site, SHM),
        "colibri.db-shm: Permission denied",
        chmod,
    ),
    fails(
        "A write queue that may not be written",
        |site| shut(site, QUEUE),
        "colibri.db.queue: Permission denied",
        chmod,
    ),
    fails(
        "A folder in place of the file",
        |site| {
            fs::create_dir(site.path("data")).unwrap();
            site.set("COLIBRI_DB_PATH", "data");
        },
        "data is not a regular file",
        another_path,
    ),
    fails(
        "A file in place of the folder",
        |site| {
            site.write("data", "a file");
            site.set("COLIBRI_DB_PATH", "data/colibri.db");
        },
        "data is not a folder",
        |site, _| site.rename("data", "data.moved"),
    ),
    fails(
        "A folder with the name of the log",
        |site| {
            let _ = fs::remove_file(site.path(WAL));
            fs::create_dir(site.path(WAL)).unwrap();
        },
        "colibri.db-wal is not a regular file",
        |site, _| site.rename(WAL, "elsewhere/was-the-log"),
    ),
    fails(
        "A database that is not there, in READONLY",
        |site| {
            site.set("COLIBRI_MODE", "READONLY");
            site.set("COLIBRI_DB_PATH", "none.db");
        },
        "database not found: none.db",
        |site, _| {
            site.set("COLIBRI_MODE", "FULL");
            site.assert_serves();
            site.set("COLIBRI_MODE", "READONLY");
        },
    ),
    fails(
        "A file with two names",
        |site| fs::hard_link(site.path(DATABASE), site.path("other.db")).unwrap(),
        "has 2 names",
        |site, _| {
            fs::copy(site.path(DATABASE), site.path("copy.db")).unwrap();
            site.set("COLIBRI_DB_PATH", "copy.db");
        },
    ),
    fails(
        "A log without its database",
        |site| {
            site.write(WAL, "what was acknowledged");
            site.rename(DATABASE, "away/colibri.db");
        },
        "is the log of a database that is not at",
        |site, _| {
            site.rename(WAL, "elsewhere/colibri.db-wal");
            site.rename("away/colibri.db", DATABASE);
        },
    ),
    fails("A log of another file", exchanged, "belongs to another file that had the name", |site, _| {
        site.rename(DATABASE, "later.db");
        site.rename("earlier.db", DATABASE);
    }),
    fails(
        "A rollback journal beside the database",
        |site| site.write("colibri.db-journal", [1; 512]),
        "a rollback journal of 512 bytes",
        |site, found| {
            for name in [DATABASE, WAL, SHM, QUEUE, "colibri.db-journal"] {
                if site.path(name).exists() {
                    site.rename(name, &format!("elsewhere/{name}"));
                }
            }
            site.hand_over();
            site.types_advised(found, "colibri restore");
        },
    ),
    Cause {
        alike: |line| line.split_once(" is held by ").unwrap().1,
        ..fails(
            "A process that holds the write queue",
            |site| {
                let queue = fs::File::open(site.path(QUEUE)).unwrap();
                queue.lock().unwrap();
                site.hold(queue);
                site.set(TIMEOUT, "2000");
            },
            "the write queue of colibri.db is held by process",
            |site, _| site.let_go(),
        )
    },
    Cause {
        alike: |line| line.split_once(" is held by ").unwrap().0,
        ..fails(
            "A program that keeps the database locked",
            |site| {
                let conn = rusqlite::Connection::open(site.path(DATABASE)).unwrap();
                conn.execute_batch("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE").unwrap();
                site.hold(conn);
                site.set(TIMEOUT, "2000");
            },
            "database is locked: colibri.db is held by another program",
            |site, _| site.let_go(),
        )
    },
];
