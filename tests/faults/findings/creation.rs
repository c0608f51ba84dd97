//! A6, A11: a new database file is whole or not there, and starts and readers wait for one another.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use colibri::migrations::MIGRATIONS;
use colibri_store::sqlite::open::migrate::latest;
use colibri_test_support::client::Launch;
use colibri_test_support::engine;
use colibri_test_support::sql::Connection;
use serde_json::json;
use tempfile::TempDir;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_create","arguments":{"title":"A"}}}"#;
const READ: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_list","arguments":{}}}"#;

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// A process with one line as its input.
fn start(launch: Launch, line: &str) -> Child {
    let mut command = launch.command();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command does not read it.
    let _ = writeln!(stdin, "{line}");
    child
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Served, and ended well.
fn assert_served(output: &Output, what: &str) {
    let said = text(output);
    assert!(output.status.success() && said.contains(r#""ok":true"#), "{what}: {said}");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file at an older schema version, as a server of an earlier release leaves it.
fn older(path: &Path) -> Connection {
    let conn = engine::open(path);
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA application_id = 1129071186").unwrap();
    migrate(&conn, 0, 4);
    conn
}

fn migrate(conn: &Connection, from: usize, to: usize) {
    let sql: String = MIGRATIONS[from..to].iter().map(|migration| migration.sql).collect();
    conn.execute_batch(&format!("BEGIN; {sql}; PRAGMA user_version = {to}; COMMIT")).unwrap();
}

/// A round: a creator is killed at some moment, then six servers start at once, with readers beside them.
fn round(number: u64) {
    let folder = Arc::new(TempDir::new().unwrap());
    let launch = || colibri().in_folder(folder.clone());
    let mut creator = start(launch(), CALL);
    // From before the first look at the file until after the first call.
    std::thread::sleep(Duration::from_micros(number.wrapping_mul(7919) % 16_000));
    creator.kill().unwrap();
    creator.wait().unwrap();
    let there = folder.path().join("colibri.db").exists();
    let servers: Vec<Child> = (0..6).map(|_| start(launch(), CALL)).collect();
    let readers = [
        ("READONLY", start(launch().env("COLIBRI_MODE", "READONLY"), READ)),
        ("log", start(launch().arg("log"), "")),
        ("verify", start(launch().arg("verify"), "")),
        ("READONLY", start(launch().env("COLIBRI_MODE", "READONLY"), READ)),
    ];
    for server in servers {
        assert_served(&server.wait_with_output().unwrap(), &format!("round {number}: a server"));
    }
    for (what, reader) in readers {
        let output = reader.wait_with_output().unwrap();
        let said = text(&output);
        let missing = said.contains("database not found") || said.contains("there is no database at");
        assert!(
            output.status.success() || (missing && !there),
            "round {number}: {what} beside the starts: {said}"
        );
    }
    let conn = engine::open(folder.path().join("colibri.db"));
    let tasks: i64 = conn.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
    assert!((6..=7).contains(&tasks), "round {number}: {tasks}");
    assert!(!names(folder.path()).iter().any(|name| name.ends_with(".new")), "{:?}", names(folder.path()));
}

/// As often as `COLIBRI_CREATION_ROUNDS` says, from the round that `COLIBRI_CREATION_FIRST` names.
#[test]
fn finding_a6_servers_and_readers_that_start_at_once_after_a_killed_creator_all_serve() {
    let variable = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let (first, rounds) =
        (variable("COLIBRI_CREATION_FIRST").unwrap_or(1), variable("COLIBRI_CREATION_ROUNDS").unwrap_or(8));
    (first..first + rounds).for_each(round);
}

#[test]
fn finding_a6_a_start_waits_until_another_program_lets_go_of_the_file() {
    let launch = colibri();
    let folder = launch.folder();
    // A backup has no write-ahead log yet, and SQLite does not wait when it changes to one.
    assert_served(&start(launch, CALL).wait_with_output().unwrap(), "the first start");
    let conn = engine::open(folder.path().join("colibri.db"));
    conn.execute_batch("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE").unwrap();
    let server = start(colibri().in_folder(folder.clone()), CALL);
    std::thread::sleep(Duration::from_millis(400));
    conn.execute_batch("COMMIT").unwrap();
    assert_served(&server.wait_with_output().unwrap(), "the second start");
}

#[test]
fn finding_a6_a_reader_waits_for_the_start_that_migrates() {
    for arguments in [&["log"][..], &["verify"], &[]] {
        let launch = colibri().env("COLIBRI_MODE", "READONLY");
        let folder = launch.folder();
        let conn = older(&folder.path().join("colibri.db"));
        // What a start holds while it migrates.
        let queue = File::create(folder.path().join("colibri.db.queue")).unwrap();
        queue.lock().unwrap();
        let reader = start(arguments.iter().fold(launch, |launch, argument| launch.arg(argument)), READ);
        std::thread::sleep(Duration::from_millis(400));
        migrate(&conn, 4, 7);
        std::thread::sleep(Duration::from_millis(50));
        migrate(&conn, 7, MIGRATIONS.len());
        assert_eq!(latest(MIGRATIONS), i64::try_from(MIGRATIONS.len()).unwrap());
        queue.unlock().unwrap();
        let output = reader.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    }
}

#[test]
fn finding_a6_a_reader_of_an_older_file_says_so_at_once_when_no_start_is_at_work() {
    let launch = colibri().arg("log");
    let folder = launch.folder();
    older(&folder.path().join("colibri.db"));
    let output = start(launch, "").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("has schema version 4"), "{}", text(&output));
}

#[test]
fn finding_a11_what_a_dead_creator_left_is_removed() {
    for before in [None, Some("")] {
        let launch = colibri();
        let folder = launch.folder();
        if let Some(content) = before {
            std::fs::write(folder.path().join("colibri.db"), content).unwrap();
        }
        std::fs::write(folder.path().join("colibri.db.creation.new"), "half of a database").unwrap();
        assert_served(&start(launch, CALL).wait_with_output().unwrap(), "the start");
        assert_eq!(names(folder.path()), ["colibri.db", "colibri.db.queue"]);
        // Where the file system knows no rename without replacing, a creator may die while the file has two names.
        std::fs::hard_link(folder.path().join("colibri.db"), folder.path().join("colibri.db.creation.new"))
            .unwrap();
        assert_served(
            &start(colibri().in_folder(folder.clone()), CALL).wait_with_output().unwrap(),
            "the next start",
        );
        assert_eq!(names(folder.path()), ["colibri.db", "colibri.db.queue"]);
    }
}

#[test]
fn finding_a11_a_log_without_its_database_is_refused_and_left_as_it_is() {
    for (side, empty) in [("-wal", false), ("-wal", true), ("-journal", false)] {
        let launch = colibri();
        let folder = launch.folder();
        let log = folder.path().join(format!("colibri.db{side}"));
        std::fs::write(&log, "acknowledged calls").unwrap();
        if empty {
            std::fs::write(folder.path().join("colibri.db"), "").unwrap();
        }
        let output = start(launch, CALL).wait_with_output().unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("is the log of a database that is not at") && said.contains(side), "{said}");
        assert_eq!(std::fs::read(&log).unwrap(), b"acknowledged calls");
        let there = folder.path().join("colibri.db").metadata().map(|found| found.len());
        assert_eq!(there.ok(), empty.then_some(0));
        let told = start(colibri().in_folder(folder.clone()).arg("doctor"), "").wait_with_output().unwrap();
        assert!(empty || text(&told).contains("is the log of a database that is not at"), "{}", text(&told));
    }
}

/// A server of 0.1.0 that was killed in its first transaction leaves this; so does `touch`.
#[test]
fn finding_a11_an_empty_file_becomes_a_database_and_keeps_its_mode() {
    let launch = colibri();
    let folder = launch.folder();
    let elsewhere = TempDir::new().unwrap();
    let (link, file) = (folder.path().join("colibri.db"), elsewhere.path().join("true.db"));
    std::fs::write(&file, "").unwrap();
    std::fs::write(elsewhere.path().join("true.db-journal"), [0xd9; 512]).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    assert_served(&start(launch, CALL).wait_with_output().unwrap(), "the start");
    let found = file.metadata().unwrap();
    assert_eq!((found.mode() & 0o777, found.nlink()), (0o640, 1));
    assert_eq!(names(elsewhere.path()), ["true.db", "true.db.queue"]);
    assert_eq!(names(folder.path()), ["colibri.db"]);
}

#[test]
fn finding_a11_a_new_file_is_whole_before_it_has_its_name() {
    let launch = colibri();
    let folder = launch.folder();
    let path = folder.path().join("colibri.db");
    let mut server = start(launch, CALL);
    // The first look that finds the file must find all of it.
    let first = loop {
        if let Ok(bytes) = std::fs::read(&path) {
            break bytes;
        }
        std::thread::sleep(Duration::from_micros(20));
    };
    server.kill().unwrap();
    server.wait().unwrap();
    let copy = folder.path().join("copy.db");
    std::fs::write(&copy, first).unwrap();
    let found = json!({
        "version": engine::open(&copy).query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap(),
        "mode": engine::open(&copy).query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0)).unwrap(),
        "check": engine::open(&copy).query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(),
    });
    assert_eq!(found, json!({ "version": latest(MIGRATIONS), "mode": "wal", "check": "ok" }));
}
