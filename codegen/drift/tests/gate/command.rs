//! `mcp-drift` on files: what it compares, forms of output, exit codes.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use super::here;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-drift"))
        .arg("compare")
        .args(arguments)
        .current_dir(here().join("tool"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn locks_and_answers_of_servers_are_told_apart_by_what_they_hold() {
    let locks = run(&["T7/old.json", "T7/new.json"]);
    assert_eq!(locks.status.code(), Some(1));
    assert!(text(&locks.stdout).contains("BREAK, security [T7] note_find /hints/read_only"));
    let answers = run(&["O10-removed/old.json", "O10-removed/new-removed.json", "--format", "json"]);
    assert_eq!(answers.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&answers.stdout).unwrap();
    assert_eq!((&report["passes"], &report["blocking"][0]["rule"]), (&false.into(), &"O10".into()));
    for same in ["T7/old.json", "O10-removed/old.json"] {
        let output = run(&[same, same]);
        assert_eq!(output.status.code(), Some(0), "{same}");
        assert!(text(&output.stdout).contains("Nothing changed for clients."), "{same}");
    }
}

#[test]
fn waivers_that_the_report_prints_are_taken_once_they_give_a_reason() {
    let files = ["C10/old.json", "C10/near.json"];
    let told = run(&files);
    assert_eq!(told.status.code(), Some(1));
    let (_, lines) = text(&told.stdout).split_once("\nwaivers:\n").unwrap();
    let lines = lines.split("\n\n").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("accepted.yaml");
    let waived = |reason: &str| {
        let lines = lines.replace("WHY CLIENTS CAN LIVE WITH IT", reason);
        fs::write(&file, format!("waivers:\n{lines}\n")).unwrap();
        run(&[files[0], files[1], "--config", file.to_str().unwrap()])
    };
    assert_eq!(waived("WHY CLIENTS CAN LIVE WITH IT").status.code(), Some(1));
    let output = waived("Read it.");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("reason: Read it."));
}

#[test]
fn the_version_is_not_asked_of_the_file_with_the_waivers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("accepted.yaml");
    fs::write(&file, "drift:\n  waivers: []\n").unwrap();
    let name = file.to_str().unwrap();
    let output = run(&["T7/old.json", "T7/new.json", "--waivers", name]);
    let told = text(&output.stdout);
    let step = told.lines().find(|line| line.starts_with("  1. ")).unwrap();
    assert!(step.starts_with("  1. Let the new state have the version ") && !step.contains(name), "{step}");
    let step = told.lines().find(|line| line.starts_with("  2. ")).unwrap();
    assert!(step.starts_with(&format!("  2. Add these lines to {name}, below `drift:`")), "{step}");
}

#[test]
fn help_has_examples_and_the_exit_codes() {
    for (task, told) in [
        (None, "  mcp-drift check --against mcp.snapshot.json -- node dist/index.js\n"),
        (Some("snapshot"), "  mcp-drift snapshot -o mcp.snapshot.json -- node dist/index.js\n"),
        (Some("check"), "  mcp-drift check --against mcp.snapshot.json --update -- node dist/index.js\n"),
        (Some("compare"), "  mcp-drift compare old.json new.json --config accepted.yaml --format markdown\n"),
        (Some("lint"), "  mcp-drift lint mcp.snapshot.json\n"),
        (Some("rules"), "  mcp-drift rules --format json\n"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
        let output = command.args(task).arg("--help").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{task:?}");
        for told in [told, "\nExit codes: 0 ", "Usage: mcp-drift "] {
            assert!(text(&output.stdout).contains(told), "{task:?}: {told}\n{}", text(&output.stdout));
        }
    }
}

#[test]
fn bad_command_lines_and_unreadable_files_end_with_2_and_say_why() {
    for (arguments, told) in [
        (&["T7/old.json"][..], "<NEW>"),
        (&["T7/old.json", "nowhere.json"], "error: nowhere.json: "),
        (&["T7/old.json", "T7/expected.txt"], "error: T7/expected.txt: not JSON: "),
        (&["T7/old.json", "T7-list/old.json"], "error: T7/old.json is a lock and T7-list/old.json is not"),
        (&["T7-list/old.json", "T7/old.json"], "error: T7/old.json is a lock and T7-list/old.json is not"),
        (&["T7/old.json", "T7"], "error: T7/near.json: not a tool: it has no `name` and `inputSchema`"),
        (&["T7/old.json", "T7/new.json", "--format", "html"], "possible values: text, markdown, json"),
        (&["T7/old.json", "T7/new.json", "--config", "nowhere.yaml"], "error: nowhere.yaml: "),
        (&["T7/old.json", "T7/new.json", "--config", "T7/expected.txt"], "error: T7/expected.txt: "),
        (&["T7/old.json", "T7/new.json", "--waivers", "T7/expected.txt"], "error: T7/expected.txt: "),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert!(text(&output.stderr).contains(told), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_device_is_written_to_and_a_link_stays() {
    let folder = tempfile::tempdir().unwrap();
    let [file, link] = ["file.json", "link.json"].map(|name| folder.path().join(name));
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let tool = r#"{"name": "a", "inputSchema": {"type": "object"}}"#;
    let script = format!(
        r#"read a; echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}'; read b; read c; echo '{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{tool}]}}}}'; cat >/dev/null"#
    );
    let snapshot = |out: &str| {
        Command::new(env!("CARGO_BIN_EXE_mcp-drift"))
            .args(["snapshot", "-o", out, "--era", "handshake", "--", "sh", "-c", &script])
            .output()
            .unwrap()
    };
    for out in ["/dev/stdout", link.to_str().unwrap()] {
        let output = snapshot(out);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("\"name\": \"a\""));
}
