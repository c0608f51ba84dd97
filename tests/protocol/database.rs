//! store#opening: opening, migrating, sharing and refusing the database.
//!
//! Migrations that fail or are out of step are handed to the library; everything else is the process's.
//! Starts of many processes at once are in the tests of several processes; here is the start of two.

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use colibri::catalogue::CATALOGUE;
use colibri::migrations::MIGRATIONS;
use colibri_store::sqlite::open::migrate::{Migration, latest, number_of, ordered};
use colibri_store::sqlite::open::{Opened, StoreOptions, WAIT, init_db};
use colibri_test_support::actions::actions;
use colibri_test_support::client::{Ended, Launch};
use colibri_test_support::{engine, sqlite_only};
use serde_json::{Value, json};
use tempfile::TempDir;

const APPLICATION_ID: i64 = 1_129_071_186;

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn store(path: &Path, migrations: &'static [Migration]) -> StoreOptions {
    StoreOptions {
        path: path.to_owned(),
        read_only: false,
        sync: false,
        boot_id: "11111111-1111-4111-8111-111111111111".to_owned(),
        process_aborted: CATALOGUE.codes.process_aborted.code,
        now: "2026-11-21T10:00:00.000Z".to_owned(),
        migrations,
        tail_checks: &[],
        max_pages: None,
        wait: WAIT,
    }
}

fn pragma(opened: &Opened, name: &str) -> i64 {
    opened.db().query_one(&format!("PRAGMA {name}"), &[], |row| row.get(0)).unwrap()
}

/// A process that refuses its database: exit 1, the reason on stderr.
fn refusal(launch: Launch, text: &str) -> Ended {
    let ended = launch.start().wait();
    assert_eq!((ended.code(), &ended.rest), (1, &Vec::<Value>::new()), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("[colibri] fatal: {text}")), "{text}: {}", ended.stderr);
    ended
}

/// A folder with the file that `write` makes.
fn folder_with(write: impl FnOnce(&Path)) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("colibri.db");
    write(&path);
    (folder, path)
}

#[test]
fn the_compiled_list_is_the_folder_without_gaps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| number_of(name).is_some())
        .collect();
    files.sort();
    assert_eq!(files, MIGRATIONS.iter().map(|one| one.file).collect::<Vec<_>>());
    let numbers: Vec<_> = ordered(MIGRATIONS).unwrap().into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=MIGRATIONS.len() as u32).collect::<Vec<_>>());
}

#[test]
fn a_fresh_path_gets_folder_settings_and_schema() {
    sqlite_only!("it is about a new file");
    let launch = colibri();
    let path = launch.folder().path().join("deep/er/colibri.db");
    let mut server = launch.env("COLIBRI_DB_PATH", &path).start();
    server.ready_by("task_list", json!({}));
    let conn = engine::open(&path);
    let number =
        |name: &str| conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).unwrap();
    let mode: String = conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    assert_eq!((number("user_version"), number("application_id")), (latest(MIGRATIONS), APPLICATION_ID));
    for table in ["tasks", "task_dependencies", "actions", "actions_head"] {
        assert!(conn.sqlite().table_exists(None, table).unwrap(), "{table}");
    }
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    // Settings of a connection are seen from inside only.
    let folder = tempfile::tempdir().unwrap();
    let opened = init_db(&store(&folder.path().join("a/b.db"), MIGRATIONS)).unwrap();
    assert_eq!((pragma(&opened, "foreign_keys"), pragma(&opened, "recursive_triggers")), (1, 1));
    assert_eq!((pragma(&opened, "busy_timeout"), pragma(&opened, "trusted_schema")), (5000, 0));
}

const SIX: &[Migration] = &[
    Migration { file: "001_init.sql", sql: "-- nothing" },
    Migration { file: "002_b.sql", sql: "CREATE TABLE log (step INTEGER)" },
    Migration { file: "003_c.sql", sql: "INSERT INTO log VALUES (3)" },
    Migration { file: "004_d.sql", sql: "INSERT INTO log VALUES (4)" },
    Migration { file: "005_e.sql", sql: "INSERT INTO log VALUES (5)" },
    Migration { file: "006_actions.sql", sql: include_str!("../../migrations/004_actions.sql") },
];
const NINE: &[Migration] = &[
    SIX[0],
    SIX[1],
    SIX[2],
    SIX[3],
    SIX[4],
    SIX[5],
    Migration { file: "007_g.sql", sql: "INSERT INTO log VALUES (7)" },
    Migration { file: "008_h.sql", sql: "INSERT INTO log SELECT max(step) + 1 FROM log; -- 8\n" },
    Migration { file: "009_i.sql", sql: "/* only words */" },
];
const BROKEN: &[Migration] = &[
    SIX[0],
    SIX[1],
    SIX[2],
    SIX[3],
    SIX[4],
    SIX[5],
    NINE[6],
    Migration { file: "008_broken.sql", sql: "INSERT INTO log VALUES (8); INSERT INTO nowhere VALUES (1)" },
];
const TWICE: &[Migration] = &[SIX[0], SIX[1], Migration { file: "002_other.sql", sql: "SELECT 1" }];

fn steps(opened: &Opened) -> Vec<i64> {
    opened.db().query_all("SELECT step FROM log ORDER BY rowid", &[], |row| row.get(0)).unwrap()
}

#[test]
fn a_second_start_runs_no_migration_and_an_older_file_the_missing_ones() {
    sqlite_only!("a start migrates files only");
    let mut first = colibri().start();
    first.data("task_create", json!({ "title": "A" }));
    let folder = first.shared_folder();
    first.finish();
    let path = folder.path().join("colibri.db");
    let opened = init_db(&store(&path, MIGRATIONS)).unwrap();
    assert_eq!((opened.migrated, opened.schema_version), (0, latest(MIGRATIONS)));
    drop(opened);
    let mut second = colibri().in_folder(folder.clone()).start();
    assert_eq!(second.data("task_list", json!({}))["total_count"], 1);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    assert_eq!(init_db(&store(&path, SIX)).unwrap().migrated, 6);
    let opened = init_db(&store(&path, NINE)).unwrap();
    assert_eq!((opened.migrated, opened.schema_version), (3, 9));
    assert_eq!(steps(&opened), [3, 4, 5, 7, 8]);
}

#[test]
fn newer_and_foreign_files_are_refused_and_left_alone() {
    sqlite_only!("it is about files; what a start refuses of PostgreSQL has tests of its own");
    let newest = latest(MIGRATIONS);
    let (_kept, newer) = folder_with(|path| {
        drop(init_db(&store(path, MIGRATIONS)).unwrap());
        engine::open(path).sqlite().pragma_update(None, "user_version", newest + 1).unwrap();
    });
    let (_kept2, foreign) = folder_with(|path| {
        engine::open(path).execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    });
    let cases = [
        (newer, format!("database schema version {} is newer than supported version {newest}", newest + 1)),
        (foreign.clone(), format!("not a Colibri database: {}", foreign.display())),
    ];
    for (path, text) in cases {
        let before = std::fs::read(&path).unwrap();
        refusal(colibri().env("COLIBRI_DB_PATH", &path), &text);
        assert_eq!(std::fs::read(&path).unwrap(), before, "{text}");
    }
}

#[test]
fn a_failing_migration_is_undone_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    drop(init_db(&store(&path, SIX)).unwrap());
    let error = init_db(&store(&path, BROKEN)).unwrap_err().to_string();
    assert!(error.starts_with("migration 008_broken failed: "), "{error}");
    // The one before stays, the failed one left nothing.
    let opened = init_db(&store(&path, &BROKEN[..7])).unwrap();
    assert_eq!((opened.schema_version, opened.migrated, steps(&opened)), (7, 0, vec![3, 4, 5, 7]));
}

#[test]
fn a_comment_advances_the_version_and_two_of_one_number_do_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let opened = init_db(&store(&folder.path().join("a.db"), &SIX[..1])).unwrap();
    assert_eq!((opened.schema_version, opened.migrated), (1, 1));
    let error = init_db(&store(&folder.path().join("b.db"), TWICE)).unwrap_err().to_string();
    assert!(error.contains("002_b") && error.contains("002_other"), "{error}");
}

#[test]
fn two_that_start_at_once_on_a_missing_file_both_serve() {
    for _ in 0..5 {
        let mut one = colibri().start();
        let mut other = colibri().beside(&one).start();
        for server in [&mut one, &mut other] {
            server.send_call("task_create", json!({ "title": "A" }));
        }
        for server in [&mut one, &mut other] {
            let answer = server.receive();
            assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
        }
        let conn = one.sql();
        // A migration that had run twice would have failed the start: its tables were there.
        if !engine::is_postgres() {
            let version: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
            assert_eq!(version, latest(MIGRATIONS));
        }
        let tasks: i64 = conn.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
        let numbers: Vec<i64> = actions(&conn).into_iter().map(|row| row.sequence_no).collect();
        assert_eq!((tasks, numbers), (2, vec![1, 2, 3, 4]));
        let heads: i64 =
            conn.query_row("SELECT last_exit_no FROM actions_head", [], |row| row.get(0)).unwrap();
        assert_eq!(heads, 4);

        let mut reader = colibri().beside(&one).env("COLIBRI_MODE", "READONLY").start();
        assert_eq!(reader.data("task_list", json!({}))["total_count"], 2);
        for server in [one, other, reader] {
            assert_eq!(server.finish().code(), 0);
        }
    }
}

#[test]
fn a_corrupted_page_is_found_after_an_unclean_stop() {
    sqlite_only!("it damages a page of SQLite's file");
    let mut server = colibri().start();
    for round in 0..64 {
        server
            .send_call("task_create", json!({ "title": "x".repeat(200), "project_id": format!("{round}") }));
    }
    for _ in 0..64 {
        server.receive();
    }
    let folder = server.shared_folder();
    server.kill();
    let path = folder.path().join("colibri.db");
    let conn = engine::open(&path);
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let page: i64 = conn
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'tasks'", [], |row| row.get(0))
        .unwrap();
    let size: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(conn);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(&[0xff; 512], ((page - 1) * size) as u64).unwrap();
    drop(file);
    refusal(colibri().in_folder(folder), "database integrity check failed");
}
