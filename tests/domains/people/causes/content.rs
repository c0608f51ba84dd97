//! What the file itself holds.

use super::site::{BACKUP, DATABASE, Finding, Site};
use super::{Cause, Start, fails};

fn another_path(site: &Site, _: &Finding) {
    site.set("COLIBRI_DB_PATH", "another.db");
}

fn restored(site: &Site, found: &Finding) {
    site.hand_over();
    site.types_advised(found, "colibri restore");
}

/// As a hostile program would, past the guards.
fn tamper(site: &Site, statement: &str) {
    let conn = colibri_test_support::engine::open(site.path(DATABASE));
    assert!(conn.tamper(statement) > 0);
}

/// A start serves all the same, and warns.
const fn degrades(name: &'static str, make: fn(&Site), says: &'static str) -> Cause {
    Cause { start: Start::Warns, ..fails(name, make, says, restored) }
}

pub const CAUSES: &[Cause] = &[
    fails(
        "A file that is not a database",
        |site| site.write(DATABASE, "no database at all, ".repeat(100)),
        "not a Colibri database: colibri.db",
        another_path,
    ),
    fails(
        "A database of another program",
        |site| {
            site.set("COLIBRI_DB_PATH", "other.db");
            let conn = rusqlite::Connection::open(site.path("other.db")).unwrap();
            conn.execute_batch("PRAGMA application_id = 77; CREATE TABLE theirs (n)").unwrap();
        },
        "not a Colibri database: other.db",
        another_path,
    ),
    fails(
        "A database without a mark of its own, and with tables",
        |site| {
            site.set("COLIBRI_DB_PATH", "other.db");
            rusqlite::Connection::open(site.path("other.db"))
                .unwrap()
                .execute_batch("CREATE TABLE theirs (n)")
                .unwrap();
        },
        "not a Colibri database: other.db",
        another_path,
    ),
    fails(
        "A database of a later release",
        |site| site.sql("PRAGMA user_version = 999"),
        "version 999 is newer than",
        another_path,
    ),
    fails(
        "A database of an earlier release, in READONLY",
        |site| {
            site.set("COLIBRI_MODE", "READONLY");
            let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden_databases/0.1.0-full.db.gz");
            site.write("older.db.gz", std::fs::read(golden).unwrap());
            site.set("COLIBRI_DB_PATH", "older.db");
            site.hand_over();
            site.types("gzip -d older.db.gz");
        },
        "READONLY cannot migrate",
        |site, _| {
            site.set("COLIBRI_MODE", "FULL");
            site.assert_serves();
            site.set("COLIBRI_MODE", "READONLY");
        },
    ),
    fails(
        "A log of calls whose end was changed",
        |site| {
            tamper(
                site,
                "UPDATE actions SET row_hash = prev_hash WHERE exit_no = (SELECT max(exit_no) FROM actions)",
            )
        },
        "database integrity check failed",
        restored,
    ),
    fails(
        "A file that was cut short",
        |site| {
            let file = std::fs::OpenOptions::new().write(true).open(site.path(DATABASE)).unwrap();
            file.set_len(file.metadata().unwrap().len() / 4).unwrap();
        },
        "malformed",
        restored,
    ),
    degrades(
        "A guard that is missing",
        |site| site.sql("DROP TRIGGER actions_keep"),
        "trigger actions_keep of actions is missing: nothing keeps the log append-only",
    ),
    degrades(
        "A guard that was changed",
        |site| {
            site.sql(
                "DROP TRIGGER trg_thought_no_delete;
                 CREATE TRIGGER trg_thought_no_delete BEFORE DELETE ON thought_records BEGIN SELECT 1; END",
            );
        },
        "trigger trg_thought_no_delete of thought_records is not what the migrations make",
    ),
    degrades(
        "A table that is missing",
        |site| site.sql("PRAGMA foreign_keys = off; DROP TABLE mcp_model_candidates"),
        "table mcp_model_candidates is missing",
    ),
    degrades(
        "A table of another program",
        |site| site.sql("CREATE TABLE theirs (n)"),
        "table theirs is not Colibri's",
    ),
];

/// The backup is what the remedies put back.
#[test]
fn the_backup_of_the_set_up_is_a_database() {
    let site = Site::new("the backup");
    site.set("COLIBRI_DB_PATH", BACKUP);
    site.hand_over();
    let report = site.doctor();
    // It is a copied file.
    report.finding("warn", "calls may be missing");
    assert!(!report.has("fail") && report.findings.iter().filter(|found| found.level == "warn").count() == 1);
}
