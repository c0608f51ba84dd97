//! A database that was copied away from its server (store#read-only): with its log every command reads it, also on a read-only medium;
//! without the log the commands say that calls may be missing.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::other_user::{as_nobody, copy_program};
use serde_json::{Value, json};
use tempfile::TempDir;

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder.clone())
        .env("COLIBRI_DB_PATH", folder.path().join("colibri.db"))
        .env("COLIBRI_LOG_LEVEL", "error")
}

fn run(folder: &Arc<TempDir>, arguments: &[&str]) -> (Option<i32>, String, String) {
    let launch = arguments.iter().fold(launch(folder), Launch::arg);
    let Output { status, stdout, stderr } = launch.command().output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

/// Copies a file of the database into the folder.
fn copy(from: &Path, to: &TempDir, suffix: &str) {
    let from = format!("{}{suffix}", from.display());
    std::fs::copy(from, to.path().join(format!("colibri.db{suffix}"))).unwrap();
}

/// A database with one task in the file and one in the log, its server still running.
fn used() -> Server {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut server = launch(&folder).start();
    server.data("task_create", json!({ "title": "in the file" }));
    assert_eq!(server.finish().code(), 0);
    let mut server = launch(&folder).start();
    server.data("task_create", json!({ "title": "in the log" }));
    server
}

const MISSING: &str = "it is complete only if no server had the database open when it was copied";

#[test]
fn a_database_and_its_log_are_read_where_no_file_can_be_created() {
    let server = used();
    let medium = Arc::new(TempDir::new().unwrap());
    for suffix in ["", "-wal"] {
        copy(&server.database(), &medium, suffix);
    }
    // SQLite follows no link for its index, so here it cannot create one, as on a read-only medium.
    std::os::unix::fs::symlink("missing/index", medium.path().join("colibri.db-shm")).unwrap();
    let commands: [&[&str]; 6] = [
        &["verify"],
        &["tasks"],
        &["log"],
        &["timeline"],
        &["overview", "--html", "page.html"],
        &["backup", "copy.db"],
    ];
    for command in commands {
        let (code, out, err) = run(&medium, command);
        assert_eq!((code, err.contains(MISSING)), (Some(0), false), "{command:?}: {out}{err}");
    }
    let (_, out, _) = run(&medium, &["tasks"]);
    assert!(out.contains("in the log"), "{out}");
    let mut reader = launch(&medium).env("COLIBRI_MODE", "READONLY").start();
    assert_eq!(reader.data("task_list", json!({}))["total_count"], 2);
    assert_eq!(reader.finish().code(), 0);
}

#[test]
fn a_file_without_its_log_is_said_to_be_complete_only_if_it_was_closed() {
    let server = used();
    let copied = Arc::new(TempDir::new().unwrap());
    copy(&server.database(), &copied, "");
    let (code, out, _) = run(&copied, &["verify"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("LOG_MAY_BE_MISSING") && out.contains(MISSING), "{out}");
    let (_, out, _) = run(&copied, &["verify", "--json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["warnings"][0]["code"], "LOG_MAY_BE_MISSING");
    for command in [&["tasks"][..], &["log"], &["backup", "copy.db"]] {
        let (code, _, err) = run(&copied, command);
        assert!(code == Some(0) && err.contains(MISSING), "{command:?}: {err}");
    }
    // A backup keeps no log, and the database in its place has emptied it.
    let (_, out, _) = run(&copied, &["verify", "--db", "copy.db"]);
    assert!(!out.contains(MISSING), "{out}");
    let folder = server.shared_folder();
    let quiet = |when: &str| {
        for command in ["verify", "tasks"] {
            let (_, out, err) = run(&folder, &[command]);
            assert!(!out.contains(MISSING) && !err.contains(MISSING), "{when}, {command}: {out}{err}");
        }
    };
    quiet("while a server runs");
    assert_eq!(server.finish().code(), 0);
    quiet("after it");
}

#[test]
fn every_view_and_each_start_says_that_calls_may_be_missing() {
    let mut server = used();
    let session = server.data("audit_session_start", json!({ "intent": "work" }))["session_id"].clone();
    let folder = server.shared_folder();
    assert_eq!(server.finish().code(), 0);
    let mut server = launch(&folder).start();
    server.data("task_create", json!({ "title": "in the log" }));
    for (what, is_empty) in
        [("no log (-wal file) lies next to it", false), ("the log (-wal file) next to it is empty", true)]
    {
        let copied = Arc::new(TempDir::new().unwrap());
        copy(&server.database(), &copied, "");
        let log = copied.path().join("colibri.db-wal");
        // A reader leaves an empty log.
        let as_copied = || match is_empty {
            true => std::fs::write(&log, "").unwrap(),
            false => drop(std::fs::remove_file(&log)),
        };
        as_copied();
        let session = session.as_str().unwrap();
        let (code, out, _) = run(&copied, &["doctor"]);
        assert!(code == Some(0) && out.contains("calls may be missing") && out.contains(what), "{out}");
        for command in [&["overview", "--html", "page.html"][..], &["report", session, "--html", "page.html"]]
        {
            as_copied();
            let (code, out, err) = run(&copied, command);
            assert!(code == Some(0) && err.contains(what), "{command:?}: {err}");
            assert!(out.contains("LOG_MAY_BE_MISSING"), "{command:?}: {out}");
            let page = std::fs::read_to_string(copied.path().join("page.html")).unwrap();
            assert!(page.contains("LOG_MAY_BE_MISSING") && page.contains(what), "{command:?}: {page}");
            std::fs::remove_file(copied.path().join("page.html")).unwrap();
        }
        // A start in FULL gives the file a log, and so comes last.
        for mode in ["READONLY", "FULL"] {
            as_copied();
            let mut reader =
                launch(&copied).env("COLIBRI_MODE", mode).env("COLIBRI_LOG_LEVEL", "warn").start();
            reader.data("task_list", json!({}));
            let ended = reader.finish();
            assert_eq!(ended.code(), 0);
            let said = ended.stderr;
            assert!(said.contains("calls may be missing") && said.contains(what), "{mode}: {said}");
        }
    }
}

#[test]
fn a_log_that_cannot_be_read_is_named_with_what_to_do() {
    use std::os::unix::fs::PermissionsExt;
    let server = used();
    let copied = Arc::new(TempDir::new().unwrap());
    for suffix in ["", "-wal"] {
        copy(&server.database(), &copied, suffix);
    }
    let program = copied.path().join("colibri");
    copy_program(env!("CARGO_BIN_EXE_colibri-under-test"), &program);
    for (name, mode) in [("", 0o755), ("colibri.db", 0o644), ("colibri.db-wal", 0o000)] {
        std::fs::set_permissions(copied.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    for command in ["serve", "doctor", "tasks"] {
        let launch = Launch::new(&program)
            .in_folder(copied.clone())
            .env("COLIBRI_DB_PATH", copied.path().join("colibri.db"))
            .env("COLIBRI_MODE", "READONLY")
            .arg(command);
        let output = as_nobody(&launch.command()).stdin(std::process::Stdio::null()).output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(!output.status.success() && said.contains("colibri.db-wal"), "{command}: {said}");
        let to_do = ["let the server's user read it", "let this user read the file"];
        assert!(to_do.iter().any(|text| said.contains(text)), "{command}: {said}");
    }
}
