//! C3: no command writes to a terminal what a terminal would obey, wherever the text came from.

use std::path::Path;
use std::process::{Command, Stdio};

use colibri_test_support::client::Launch;
use serde_json::{Value, json};

use super::assert_visible;

/// A name that a file, an argument or a stored text may have.
const HOSTILE: &str = "a\u{1b}[31m\u{9b}2J\u{202e}\u{200b}\u{e0041}b\nforged";
/// What a session's id may hold of it: the tools refuse control characters of ASCII there.
const ID: &str = "a\u{9b}2J\u{202e}\u{200b}\u{e0041}b";

fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// Runs a command to its end, its input empty. Both streams are checked; what it printed.
fn run(launch: &Launch, arguments: &[&str]) -> String {
    finish(launch.command(), arguments)
}

fn finish(mut command: Command, arguments: &[&str]) -> String {
    let ended = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    let (out, err) = (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap());
    assert!(out.len() + err.len() > 0, "{arguments:?} says something");
    for text in [&out, &err] {
        assert_visible(&format!("{arguments:?}"), text);
        assert!(!text.lines().any(|line| line.starts_with("forged")), "{arguments:?} forges a line: {text}");
    }
    out
}

/// A database with a sealed session whose texts are hostile.
fn filled() -> Launch {
    let launch = launch();
    let mut server = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(launch.folder()).start();
    server.data("audit_session_start", json!({ "session_id": ID, "intent": HOSTILE }));
    for content in [HOSTILE, "more"] {
        let thought = json!({ "session_id": ID, "task_id": ID, "agent_id": ID, "type": "plan",
            "content": content });
        server.data("thought_record", thought);
    }
    server.request("tools/call", json!({ "name": HOSTILE }));
    server.data("merkle_finalize", json!({ "session_id": ID }));
    server.data("task_create", json!({ "title": HOSTILE }));
    server.finish();
    launch
}

#[test]
fn finding_c3_no_command_prints_what_a_terminal_obeys_of_its_arguments() {
    let launch = filled();
    let folder = launch.folder();
    let there = folder.path().join(HOSTILE);
    std::fs::write(&there, HOSTILE).unwrap();
    let (there, absent) = (there.to_str().unwrap().to_owned(), format!("no-{HOSTILE}"));
    for arguments in [
        &[HOSTILE][..],
        &["--oops\u{1b}[31m\u{202e}"],
        &["call", HOSTILE],
        &["call", "server_ping", HOSTILE],
        &["log", "--db", &absent],
        &["log", "--db", &there],
        &["log", "--tool", HOSTILE],
        &["log", "--limit", HOSTILE],
        &["log", "--since", HOSTILE],
        &["verify", "--db", &absent],
        &["verify", "--db", &there],
        &["verify", "--key", &absent],
        &["verify", "--checkpoint", &absent],
        &["verify", "--checkpoint", &there],
        &["verify", "--write-checkpoint", &there],
        &["backup", &there],
        &["backup", &absent, "--db", &absent],
        &["restore", &there],
        &["restore", &absent, "--db", &there],
        &["keys", "show", &absent],
        &["keys", "show", &there],
        &["keys", "generate", &there],
        &["export", ID, "--out", &there],
        &["export", &absent, "--out", "new"],
        &["proof", ID, &absent],
        &["report", ID, "--html", &there],
        &["report", &absent, "--html", "new"],
        &["check-proof", &absent],
        &["check-proof", &there],
        &["verify-export", &absent],
        &["verify-export", &there],
        &["reputation", "import", &absent],
        &["reputation", "import", &there],
        &["reputation", "export", "--db", &absent],
        &["reputation", "verify", "--db", &there],
    ] {
        run(&launch, arguments);
    }
}

#[test]
fn finding_c3_no_command_prints_what_a_terminal_obeys_of_stored_texts_and_file_names() {
    let launch = filled();
    for arguments in [
        &["log"][..],
        &["verify"],
        &["doctor"],
        &["export", ID, "--out", HOSTILE],
        &["verify-export", HOSTILE],
        &["report", ID, "--html", "a\u{9b}\u{202e}.html"],
        &["backup", "a\u{9b}\u{202e}.db"],
        &["restore", "a\u{9b}\u{202e}.db", "--db", "b\u{9b}\u{202e}.db"],
        &["restore", "a\u{9b}\u{202e}.db", "--db", "b\u{9b}\u{202e}.db"],
        &["keys", "generate", "a\u{9b}\u{202e}.key"],
        &["verify", "--write-checkpoint", "a\u{9b}\u{202e}.json"],
    ] {
        run(&launch, arguments);
    }
}

#[test]
fn finding_c3_doctor_and_the_start_show_hostile_settings_by_number() {
    let folder = launch().folder();
    let skill = |path: &Path| {
        let skill = path.join(format!(".agents/skills/colibri-{HOSTILE}"));
        std::fs::create_dir_all(&skill).unwrap();
        std::fs::write(skill.join("SKILL.md"), format!("---\nname: {HOSTILE}\n---\n")).unwrap();
    };
    skill(folder.path());
    for (name, value) in [
        ("COLIBRI_MODE", HOSTILE),
        ("COLIBRI_DB_PATH", HOSTILE),
        ("COLIBRI_SKILLS_ROOT", HOSTILE),
        ("COLIBRI_LOG_LEVEL", HOSTILE),
        ("COLIBRI_CONSENSUS_KEY_FILE", HOSTILE),
        ("COLIBRI_ROUTER_CANDIDATES", HOSTILE),
        ("COLIBRI_A\u{9b}\u{202e}\u{1b}[31m", "1"),
        ("COLIBRI_NOTHING", "1"),
    ] {
        let launch = launch().in_folder(folder.clone()).env(name, value);
        for arguments in [&["doctor"][..], &["doctor", "--json"], &["call", "server_health"], &["log"]] {
            run(&launch, arguments);
        }
        // The server itself: it ends with its input.
        let mut server = launch.command();
        server.env("COLIBRI_LOG_LEVEL", "info");
        finish(server, &["serve"]);
    }
}

#[test]
fn finding_c3_json_of_commands_escapes_what_is_not_seen() {
    let launch = filled();
    let rows = run(&launch, &["log", "--json"]);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().any(|row| row["tool"] == HOSTILE), "{rows:?}");
    let called: Value = serde_json::from_str(&run(&launch, &["call", "task_list"])).unwrap();
    assert_eq!(called["data"]["tasks"][0]["title"], HOSTILE, "{called}");
    run(&launch, &["export", ID, "--out", "s.jsonl"]);
    for arguments in [
        &["doctor", "--json"][..],
        &["verify", "--json"],
        &["verify-export", "s.jsonl", "--json"],
        &["export", ID, "--out", HOSTILE, "--json"],
        &["report", ID, "--html", "a\u{9b}\u{202e}.html", "--json"],
        &["keys", "generate", "a\u{9b}\u{202e}.key", "--json"],
        &["tools", "--json"],
    ] {
        let text = run(&launch, arguments);
        let document: Result<Value, _> = serde_json::from_str(&text);
        assert!(document.is_ok(), "{arguments:?}: {text}");
    }
}

#[test]
fn finding_c3_the_wire_stays_as_it_is() {
    let mut server = launch().start();
    let id = server.data("task_create", json!({ "title": HOSTILE }))["id"].clone();
    server.send(&json!({ "jsonrpc": "2.0", "id": "i\u{202e}", "method": "tools/call",
        "params": { "name": "task_get", "arguments": { "id": id } } }));
    let reply = server.receive();
    assert_eq!(reply["id"], "i\u{202e}");
    server.finish();
}
