//! The rows of the table that commands print.

use std::os::unix::ffi::OsStrExt;

use colibri_test_support::engine;
use serde_json::json;

use crate::people::era::{Client, Era, launch};

/// Runs a command beside the server and returns its exit code, stdout and stderr.
fn run(client: &Client, arguments: &[&str]) -> (Option<i32>, String, String) {
    let launch =
        arguments.iter().fold(launch().beside(&client.server), |launch, argument| launch.arg(argument));
    let output = launch.command().output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

#[test]
fn people_73_rows_22_to_28_say_what_is_wrong_with_a_command() {
    let mut client = Client::new(Era::Handshake);
    // The server shakes hands, and answers probes, before its database is there.
    client.data("task_list", json!({}));
    let rows = [
        (
            &["log", "--db", "none.db"][..],
            "there is no database at none.db (the first start of a server creates it); check --db and COLIBRI_DB_PATH",
        ),
        (&["copy", "none.db", "new.db"], "there is no database at none.db; check FROM"),
        (&["call", "task_creat"], "there is no tool task_creat; did you mean task_create?"),
        (
            &["call", "task_get", "{id: 1}"],
            "the arguments are not JSON (line 1, column 2: names stand in double quotes); write an object such as '{\"limit\": 5}'",
        ),
        (
            &["report", "s", "--html", "s.html"],
            "there is no audit session \"s\"; write at least 4 characters of its id; colibri sessions lists them",
        ),
        (
            &["export", "s", "--out", "s.jsonl"],
            "there is no audit session \"s\"; write at least 4 characters of its id; colibri sessions lists them",
        ),
    ];
    for (arguments, expected) in rows {
        let refused = (Some(2), String::new(), format!("colibri: {expected}\n"));
        assert_eq!(run(&client, arguments), refused, "{arguments:?}");
    }
    for view in ["log", "timeline"] {
        let (code, _, err) = run(&client, &[view, "--since", "soon"]);
        let expected = "\"soon\" is not a time; write 2h, today, yesterday 14:00 or 2026-11-01T10:00Z";
        assert!(code == Some(2) && err.contains(expected), "{view}: {code:?} {err}");
    }
    let nothing = (Some(0), "No call matches.\n".to_owned(), String::new());
    assert_eq!(run(&client, &["log", "--tool", "task_create"]), nothing);
}

#[test]
fn people_73_row_26_leaves_a_file_that_is_there() {
    let mut client = Client::new(Era::Handshake);
    client.data("audit_session_start", json!({ "session_id": "s", "intent": "i" }));
    let there = client.server.folder().join("precious");
    std::fs::write(&there, "precious").unwrap();
    let name = there.to_str().unwrap();
    let expected = "precious is there already and was not changed; choose another name\n";
    for arguments in [
        &["export", "s", "--out", name][..],
        &["report", "s", "--html", name],
        &["backup", name],
        &["keys", "generate", name],
    ] {
        let (code, out, err) = run(&client, arguments);
        assert!(
            code == Some(2) && out.is_empty() && err.ends_with(expected),
            "{arguments:?}: {code:?} {err}"
        );
    }
    assert_eq!(std::fs::read(there).unwrap(), b"precious");
}

#[test]
fn people_73_advice_and_arguments_are_shown_as_they_are_typed() {
    let client = Client::new(Era::Handshake);
    for (url, told) in [
        (
            "postgresql://",
            "names no host; write postgres://user@host/database, or ?host=/folder for a Unix socket\n",
        ),
        ("postgres://host/d", "names no user; write postgres://user@host/database\n"),
    ] {
        let (code, _, err) = run(&client, &["tasks", "--db", url]);
        assert!(code == Some(2) && err.ends_with(told), "{err}");
    }
    for secret in ["postgres://user@host/database2", "postgres://user@host/database?password=secret"] {
        let (_, _, err) = run(&client, &["backup", "new.db", "--db", &format!("./{secret}")]);
        assert!(err.contains("postgres://[redacted]") && !err.contains("user@"), "{err}");
    }
    for arguments in [
        &["overview", "--html", "-"][..],
        &["graph", "--out", "-"],
        &["backup", "-"],
        &["keys", "generate", "-"],
    ] {
        let (code, out, err) = run(&client, arguments);
        let told = "colibri: \"-\" does not stand for stdout here; name a file, or write ./- for a file of this name\n";
        assert_eq!((code, out.as_str(), err.as_str()), (Some(2), "", told), "{arguments:?}");
    }
    let mut command = launch().beside(&client.server).arg("tasks").arg("--search").command();
    let output = command.arg(std::ffi::OsStr::from_bytes(b"\xff")).output().unwrap();
    let expected =
        "error: invalid UTF-8 was detected in one or more arguments\n\nUsage: colibri tasks [OPTIONS]\n\n";
    assert!(output.stderr.starts_with(expected.as_bytes()), "{output:?}");
}

#[test]
fn people_73_rows_29_to_31_count_what_is_there() {
    let mut client = Client::new(Era::Handshake);
    client.data("audit_session_start", json!({ "session_id": "s", "intent": "i" }));
    let (code, out, _) = run(&client, &["verify"]);
    assert!(code == Some(0) && !out.contains("pruned") && !out.contains("other rules"), "{out}");
    assert!(out.contains("\nok      trail       records: 0\n"), "{out}");
    // The events of a row that was changed are its own: one finding.
    client.server.sql().tamper("UPDATE audit_sessions SET intent = 'another'");
    let (code, out, _) = run(&client, &["verify"]);
    let noun = if engine::is_postgres() { "database" } else { "file" };
    let expected = format!("\nNot sound: 1 finding. Keep a copy of the {noun} as evidence.\n");
    assert!(code == Some(1) && out.ends_with(&expected), "{out}");
}

#[test]
fn people_73_row_35_says_that_nothing_is_proven() {
    let mut client = Client::new(Era::Handshake);
    client.data("audit_session_start", json!({ "session_id": "s", "intent": "i" }));
    client.data(
        "thought_record",
        json!({ "type": "plan", "task_id": "t", "agent_id": "a", "session_id": "s", "content": "right" }),
    );
    client.data("merkle_finalize", json!({ "session_id": "s" }));
    let (_, export, _) = run(&client, &["export", "s"]);
    let changed = client.server.folder().join("changed.jsonl");
    std::fs::write(&changed, export.replace("right", "wrong")).unwrap();
    let (code, out, _) = run(&client, &["verify-export", changed.to_str().unwrap()]);
    let expected = "\nThe export is not valid.\nNothing is proven: a check failed.\n";
    assert!(code == Some(1) && out.ends_with(expected), "{out}");
}

#[test]
fn people_73_rows_38_and_40_are_in_the_help() {
    let client = Client::new(Era::Handshake);
    let (_, out, _) = run(&client, &["log", "--help"]);
    assert!(out.contains("Only calls of one server process, by its boot id (see --json)"), "{out}");
    let page = include_str!("../../../../docs/reference/configuration.md");
    assert!(page.contains("| Milliseconds for an attempt at Anthropic, if below the general limit. |"));
}
