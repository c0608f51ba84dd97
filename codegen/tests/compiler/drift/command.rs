//! The command on files: forms of output, exit codes.

use std::process::{Command, Output};

use serde_json::Value;

use super::{fixtures, here, manifest};

fn drift(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_colibri-codegen"))
        .arg("drift")
        .args(arguments)
        .current_dir(fixtures())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn two_locks_are_compared_with_or_without_the_flag() {
    let named = drift(&["--locks", "T7/old.json", "T7/new.json"]);
    let short = drift(&["T7/old.json", "T7/new.json"]);
    assert_eq!(named.status.code(), Some(1));
    assert_eq!(named, short);
    assert!(text(&named.stdout).contains("BREAK, security [T7] note_find /hints/read_only"));
    assert_eq!(drift(&["T7/old.json", "T7/old.json"]).status.code(), Some(0));
}

#[test]
fn answers_of_servers_are_compared() {
    let output = drift(&[
        "--from-tools-list",
        "O10-removed/old.json",
        "O10-removed/new-removed.json",
        "--format",
        "json",
    ]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["passes"], false);
    assert_eq!(report["blocking"][0]["rule"], "O10");
    assert_eq!(report["blocking"][0]["severity"], "break");
    assert_eq!(report["blocking"][0]["fingerprint"].as_str().map(str::len), Some(16));
}

#[test]
fn waivers_of_a_file_accept_findings_of_files() {
    let waivers = fixtures().join("C10/near.waivers.yaml");
    let output = drift(&["C10/old.json", "C10/near.json", "--waivers", waivers.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("reason: Reads better."));
    let without = drift(&["C10/old.json", "C10/near.json"]);
    assert_eq!(without.status.code(), Some(1));
}

#[test]
fn markdown_is_a_comment_that_can_be_found_again() {
    let output = drift(&["T7/old.json", "T7/new.json", "--format", "markdown"]);
    assert_eq!(output.status.code(), Some(1));
    super::golden(&here().join("expected/comment.md"), text(&output.stdout));
}

#[test]
fn bad_command_lines_and_unreadable_files_end_with_2() {
    for (arguments, told) in [
        (&["--locks", "T7/old.json"][..], "2 values required"),
        (&["--locks", "T7/old.json", "nowhere.json"], "nowhere.json"),
        (&["--locks", "T7-list/old.json", "T7-list/near.json"], "T7-list/old.json: not a lock file"),
        (&["--from-tools-list", "T7/expected.txt", "T7/old.json"], "T7/expected.txt"),
        (&["T7/old.json", "T7/new.json", "--format", "html"], "possible values: text, markdown, json"),
        (&["T7/old.json", "T7/new.json", "--base", "HEAD"], "--base"),
        (&["nowhere"], "there is no folder `nowhere`"),
    ] {
        let output = drift(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert!(text(&output.stderr).contains(told), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn commands_of_the_workflow_are_taken() {
    let workflow = std::fs::read_to_string(manifest().join("../docs/guide/drift-workflow.yml")).unwrap();
    let jobs: serde_json::Value = serde_yaml::from_str(&workflow).unwrap();
    let steps = jobs["jobs"]["catalogue"]["steps"].as_array().unwrap();
    let lines = steps.iter().filter_map(|step| step["run"].as_str()).flat_map(str::lines);
    let commands: Vec<&str> = lines.filter_map(|line| line.trim().strip_prefix("$CODEGEN ")).collect();
    assert_eq!(commands.len(), 6);
    for command in commands {
        // Everything up to what the shell fills in or redirects.
        let words = command.split(' ').take_while(|word| !word.starts_with(['>', '|']));
        let words: Vec<&str> = words.filter(|word| !word.contains('$')).collect();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_colibri-codegen"))
            .args(&words)
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}");
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(String::from_utf8_lossy(&output.stdout).contains(option), "{option} in `{command}`");
        }
    }
}
