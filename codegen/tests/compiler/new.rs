//! A new project builds, lists its tool and answers a call, by the commands of its own page.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::example_edits::target;

fn new(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"));
    let output = command.arg("new").args(arguments).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn checkout() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/..")
}

#[test]
fn a_new_project_answers_in_one_cargo_run() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(new(folder.path(), &["fresh-server", "--path", checkout()]), (Some(0), String::new()));
    let project = folder.path().join("fresh-server");
    fs::copy(Path::new(checkout()).join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    // The profiles of this workspace, so that what other tests compile is shared.
    let manifest = fs::read_to_string(Path::new(checkout()).join("Cargo.toml")).unwrap();
    fs::create_dir(project.join(".cargo")).unwrap();
    fs::write(project.join(".cargo/config.toml"), &manifest[manifest.find("[profile.dev]").unwrap()..])
        .unwrap();
    let page = fs::read_to_string(project.join("README.md")).unwrap();
    let (command, requests) = page.split_once("```sh\n").unwrap().1.split_once(" <<'END'\n").unwrap();
    let requests = requests.split_once("END\n").unwrap().0;
    let (program, arguments) = command.split_once(' ').unwrap();
    assert_eq!(program, "cargo");
    let mut server = Command::new(env!("CARGO"))
        .args(arguments.split(' '))
        .current_dir(&project)
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", target())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server.stdin.take().unwrap().write_all(requests.as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    let (told, said) = (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap());
    assert!(output.status.success() && !told.contains("warning"), "{told}");
    let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3, "{said}");
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "fresh-server");
    assert_eq!(answers[1]["result"]["tools"][0]["name"], "hello");
    assert_eq!(answers[2]["result"]["structuredContent"]["data"]["text"], "Hello, Ada.");
}

#[test]
fn published_crates_are_the_default() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(new(folder.path(), &["fresh"]).0, Some(0));
    let manifest = fs::read_to_string(folder.path().join("fresh/Cargo.toml")).unwrap();
    let wanted = format!("colibri-runtime = {{ version = \"{}\" }}", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&wanted), "{manifest}");
}

#[test]
fn what_cannot_be_made_is_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("there")).unwrap();
    for (arguments, reason) in [
        (&["there"][..], "is there already"),
        (&["Fresh"], "cannot be a project's name"),
        (&["fn"], "has a meaning of its own"),
        (&["fresh", "--path", "there"], "is not a checkout"),
        (&["fresh", "--path", "nowhere"], "nowhere: "),
        (&[".."], "name a folder"),
    ] {
        let (code, told) = new(folder.path(), arguments);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(reason), "{told}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
