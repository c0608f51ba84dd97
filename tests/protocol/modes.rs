//! chain#modes: runtime modes and configuration, as a process shows them.
//!
//! 42 uses a tool that reads the database, 45 the capability that stops outside traffic; `router` and
//! `router_tools` of the domains have the tool that it stops. Counts are computed from the catalogue's flags.

use colibri_test_support::sqlite_only;
use std::sync::Arc;
use std::time::SystemTime;

use colibri::catalogue::CATALOGUE;
use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_test_support::client::{Ended, Launch};
use colibri_test_support::engine;
use serde_json::{Value, json};
use tempfile::TempDir;

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// A folder whose database has one task.
fn used_folder() -> Arc<TempDir> {
    let mut server = colibri().start();
    server.data("task_create", json!({ "title": "A" }));
    let folder = server.shared_folder();
    assert_eq!(server.finish().code(), 0);
    folder
}

/// What a server that must not start says: exit 1, nothing on stdout.
fn refusal(launch: Launch) -> Ended {
    let ended = launch.start().wait();
    assert_eq!((ended.code(), &ended.rest), (1, &Vec::<Value>::new()), "{}", ended.stderr);
    ended
}

/// What the database holds, and when its file was written.
fn bytes(folder: &TempDir) -> (Vec<u8>, Option<SystemTime>) {
    let path = folder.path().join("colibri.db");
    (engine::contents(&path), path.metadata().ok().map(|file| file.modified().unwrap()))
}

#[test]
fn the_mode_is_full_unless_named_exactly() {
    assert_eq!(colibri().start().data("server_ping", json!({}))["mode"], "FULL");
    let readonly = colibri().in_folder(used_folder()).env("COLIBRI_MODE", "READONLY");
    assert_eq!(readonly.start().data("server_ping", json!({}))["mode"], "READONLY");
    for (bad, form) in [("readonly", ", in capitals"), ("WATCH", "")] {
        let ended = refusal(colibri().env("COLIBRI_MODE", bad));
        let text =
            format!("Invalid COLIBRI_MODE: \"{bad}\". Expected one of FULL, READONLY, TEST, MINIMAL{form}.");
        assert_eq!(ended.last_message(), format!("[colibri] fatal: {text}"), "{bad:?}");
    }
}

#[test]
fn the_legacy_namespace_is_refused_by_name() {
    // `detect_mode` alone has its own text: tests/protocol/configuration.rs.
    let ended = refusal(colibri().env("AMS_ROOT", "x").env("AMS_MODE", "FULL"));
    let text = "[colibri] fatal: Colibri does not support the legacy AMS_* namespace. Found: AMS_MODE, AMS_ROOT. \
                Rename to COLIBRI_* or unset.";
    assert_eq!(ended.last_message(), text);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[test]
fn readonly_denies_writers_before_validation_and_leaves_the_file_alone() {
    let folder = used_folder();
    let before = bytes(&folder);
    let mut server = colibri().in_folder(folder.clone()).env("COLIBRI_MODE", "READONLY").start();
    let error = json!({
        "code": "TOOL_NOT_ADMITTED",
        "message": "Tool task_create writes, and the server's mode is READONLY",
        "details": {
            "tool": "task_create", "mode": "READONLY", "required_capability": "canWriteDatabase",
            "reason": "readonly_mode", "remedy": "Tell the operator; settings forbid this tool.",
        },
    });
    for arguments in [json!({ "title": "B" }), json!({}), json!([1])] {
        let envelope = server.call("task_create", arguments.clone());
        assert_eq!(envelope, json!({ "ok": false, "error": error }), "{arguments}");
        let hash = sha256_hex(canonical_json(&envelope, NumberRule::Wire).unwrap().as_bytes());
        assert_eq!(hash, "ffebfa2379484f46d0fc32ad5d131513d25033bd36188cb96e8874b1445ddd66");
    }
    let listed = server.data("task_list", json!({}));
    assert_eq!((&listed["total_count"], &listed["tasks"][0]["title"]), (&json!(1), &json!("A")));
    let health = server.data("server_health", json!({}));
    let readers = CATALOGUE.tools.iter().filter(|tool| !tool.mutates()).count();
    assert_eq!(health["admitted_tool_count"], json!(readers));
    assert_eq!(
        (&health["middleware"]["audit_sink"], &health["database"]["read_only"]),
        (&json!("memory"), &json!(true))
    );
    // Numbers are the process's own (chain#audit-sinks).
    assert_eq!(health["middleware"]["last_sequence_no"], 5);
    let ended = server.finish();
    assert_eq!(ended.code(), 0);
    let denials = ended.stderr.matches("tool=task_create outcome=denied code=TOOL_NOT_ADMITTED").count();
    assert_eq!(denials, 3, "each call is logged: {}", ended.stderr);
    assert_eq!(bytes(&folder), before);
}

#[test]
fn readonly_neither_creates_nor_migrates() {
    sqlite_only!("it is about a file that is not there or is older");
    let launch = colibri().env("COLIBRI_MODE", "READONLY");
    let folder = launch.folder();
    let path = folder.path().join("colibri.db");
    let ended = refusal(launch);
    let text = format!(
        "[colibri] fatal: database not found: {} (READONLY never creates a database)",
        path.display()
    );
    assert!(ended.stderr.contains(&text), "{}", ended.stderr);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    let folder = used_folder();
    let conn = engine::open(folder.path().join("colibri.db"));
    let latest: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    conn.sqlite().pragma_update(None, "user_version", latest - 1).unwrap();
    drop(conn);
    let before = bytes(&folder);
    let ended = refusal(colibri().in_folder(folder.clone()).env("COLIBRI_MODE", "READONLY"));
    let text =
        format!("database schema version {} is older than {latest}; READONLY cannot migrate", latest - 1);
    assert!(ended.stderr.contains(&text), "{}", ended.stderr);
    assert_eq!(bytes(&folder), before);
}

#[test]
fn minimal_starts_beside_a_broken_database() {
    sqlite_only!("it is about files that are no databases");
    let corrupt = tempfile::tempdir().unwrap();
    let file = corrupt.path().join("colibri.db");
    std::fs::write(&file, "this is no database").unwrap();
    let unwritable = tempfile::tempdir().unwrap();
    std::fs::write(unwritable.path().join("file"), "").unwrap();
    for path in [file.clone(), unwritable.path().join("file/no-folder/colibri.db")] {
        let mut server = colibri().env("COLIBRI_MODE", "MINIMAL").env("COLIBRI_DB_PATH", &path).start();
        assert_eq!(server.data("server_ping", json!({}))["mode"], "MINIMAL", "{}", path.display());
        let denied = server.call("task_list", json!({}));
        assert_eq!(denied["error"]["code"], "TOOL_NOT_ADMITTED", "{denied}");
        assert_eq!(denied["error"]["details"]["reason"], "minimal_mode", "{denied}");
        assert_eq!(denied["error"]["details"]["required_capability"], Value::Null, "{denied}");
        let health = server.data("server_health", json!({}));
        assert_eq!(
            (&health["status"], &health["database"]["status"]),
            (&json!("ok"), &json!("skipped")),
            "{health}"
        );
        let free = CATALOGUE.tools.iter().filter(|tool| tool.is_free()).count();
        assert_eq!((free, &health["admitted_tool_count"]), (7, &json!(7)));
        assert_eq!(std::fs::read_dir(server.folder()).unwrap().count(), 0);
        assert_eq!(server.finish().code(), 0);
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"this is no database");
}

#[test]
fn the_test_database_lives_as_long_as_its_process() {
    sqlite_only!("the mode TEST makes a file of its own");
    // The client names a database; `env` takes the name away and becomes the server.
    let mut server = Launch::new("env")
        .arg("-u")
        .arg("COLIBRI_DB_PATH")
        .arg(env!("CARGO_BIN_EXE_colibri-under-test"))
        .env("COLIBRI_MODE", "TEST")
        .start();
    server.data("task_create", json!({ "title": "A" }));
    let (folder, name) = (server.shared_folder(), format!("colibri-{}-", server.pid()));
    let data = folder.path().join("data");
    let is_its = |entry: std::io::Result<std::fs::DirEntry>| {
        let found = entry.unwrap().file_name().into_string().unwrap();
        found.starts_with(&name) && found.ends_with(".test.db")
    };
    assert_eq!(std::fs::read_dir(&data).unwrap().map(is_its).filter(|is| *is).count(), 1);
    assert_eq!(server.finish().code(), 0);
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");

    // A path that was named is kept.
    let mut server = colibri().env("COLIBRI_MODE", "TEST").start();
    server.data("task_create", json!({ "title": "A" }));
    let folder = server.shared_folder();
    assert_eq!(server.finish().code(), 0);
    assert!(folder.path().join("colibri.db").exists());
}

#[test]
fn every_problem_is_reported_and_unknown_names_are_warned_about() {
    let bad = colibri().env("COLIBRI_STARTUP_TIMEOUT_MS", "abc").env("COLIBRI_LOG_LEVEL", "loud");
    let ended = refusal(bad);
    let problems = [
        "COLIBRI_LOG_LEVEL must be one of silent, error, warn, info, debug, trace",
        "COLIBRI_STARTUP_TIMEOUT_MS must be an integer between 1 and 600000",
    ];
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ended.stderr);
    for (line, problem) in lines.iter().zip(problems) {
        assert!(line.ends_with(&format!("[colibri] fatal: {problem}")), "{line}");
    }

    let mut server = colibri().env("COLIBRI_DB", "x").start();
    server.ready_by("task_list", json!({}));
    let ended = server.finish();
    let warnings = ended.warnings();
    assert_eq!((ended.code(), warnings.len()), (0, 1), "{}", ended.stderr);
    assert!(warnings[0].contains("COLIBRI_DB "), "{warnings:?}");
}

#[test]
fn only_full_mode_may_reach_outside() {
    let folder = used_folder();
    for (mode, outside) in [("FULL", true), ("READONLY", false), ("TEST", false), ("MINIMAL", false)] {
        let mut server = colibri().in_folder(folder.clone()).env("COLIBRI_MODE", mode).start();
        let health = server.data("server_health", json!({}));
        assert_eq!(health["capabilities"]["canDispatchExternalIO"], json!(outside), "{mode}");
        assert_eq!(
            health["capabilities"]["canWriteDatabase"],
            json!(matches!(mode, "FULL" | "TEST")),
            "{mode}"
        );
        assert_eq!(health["capabilities"]["canRunIntegrationTests"], json!(mode == "TEST"), "{mode}");
        assert_eq!(health["capabilities"]["canAcceptMCPConnections"], json!(true), "{mode}");
    }
}
