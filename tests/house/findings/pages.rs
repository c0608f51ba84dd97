//! F: the pages say what happens.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use colibri_test_support::client::Launch;
use serde_json::Value;
use tempfile::TempDir;

/// The shipped server, not yet started.
fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap()
}

/// The commands of a page, in order, as a reader copies them.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```console\n").skip(1).map(|rest| rest.split_once("```\n").unwrap().0);
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("$ "));
    lines.map(str::to_owned).collect()
}

/// Types commands into one shell in an empty folder, and says of each whether it has failed.
fn typed(commands: &[String]) -> String {
    let folder = TempDir::new().unwrap();
    for name in ["bin", "work"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_colibri-under-test"), folder.path().join("bin/colibri")).unwrap();
    let asked = |command: &String| format!("{command}\n[ $? -eq 0 ] || echo 'this has failed'\n");
    let script = format!("exec 2>&1\n{}", commands.iter().map(asked).collect::<String>());
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path().join("work"))
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().join("bin").display()))
        .output()
        .unwrap();
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the page writes outside of its folder: {left:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn finding_f_the_auditing_page_works_typed_from_top_to_bottom() {
    let commands = commands(&page("docs/guide/auditing.md"));
    assert!(commands.len() > 15, "{commands:#?}");
    let text = typed(&commands);
    assert!(!text.contains("this has failed"), "{text}");
    for expected in
        ["Sound:", "The proof holds.", "ok    --root", "ok    signature", "The export is valid: every byte"]
    {
        assert!(text.contains(expected), "{expected}:\n{text}");
    }
    assert_eq!(text.matches("exit code 1").count(), 4, "each change is noticed:\n{text}");
    assert!(!text.contains("error: "), "{text}");
}

#[test]
fn the_page_on_backups_works_typed_from_top_to_bottom() {
    let page = page("docs/guide/backups.md");
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split_once("```\n").unwrap().0);
    let database = "colibri call task_create '{\"title\":\"one\"}'".to_owned();
    let commands: Vec<String> =
        [database].into_iter().chain(blocks.flat_map(str::lines).map(str::to_owned)).collect();
    assert_eq!(commands.len(), 6, "{commands:#?}");
    let text = typed(&commands);
    assert!(!text.contains("this has failed") && text.contains("kept: the previous file is now "), "{text}");
}

#[test]
fn finding_f_no_command_of_the_auditing_page_holds_a_value_of_another_run() {
    for command in commands(&page("docs/guide/auditing.md")) {
        let words = command.split(|c: char| !c.is_ascii_alphanumeric());
        let copied =
            words.clone().find(|word| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(copied, None, "{command}");
    }
}

#[test]
fn finding_f_the_example_of_json_is_a_verdict() {
    let page = page("docs/guide/auditing.md");
    let asked = |line: &&str| line.starts_with("$ colibri verify-export ") && line.ends_with(" --json");
    let command = page.lines().find(asked).expect("an example of verify-export --json");
    let (printed, _) = page.split_once(command).unwrap().1.split_once("```\n").unwrap();
    let verdict: Value = serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    assert_eq!(verdict["valid"], true, "{verdict}");
}

#[test]
fn finding_f_install_says_what_it_needs() {
    let readme = page("README.md");
    let install = readme.split_once("## Install\n").unwrap().1.split_once("\n## ").unwrap().0;
    let manifest = page("Cargo.toml");
    let line = manifest.lines().find(|line| line.starts_with("rust-version")).unwrap();
    let rust = line.split('"').nth(1).unwrap().trim_end_matches(".0");
    let before_the_command = install.split_once("cargo install").unwrap().0;
    for need in [&format!("Rust {rust}"), "C compiler"] {
        assert!(before_the_command.contains(need), "{need} is not named before the command:\n{install}");
    }
}

#[test]
fn finding_f_people_52_the_default_folder_of_skills_may_be_missing_or_hold_none() {
    let folder = std::sync::Arc::new(TempDir::new().unwrap());
    for hold in [false, true] {
        if hold {
            // A folder that other agents share, with skills that are not Colibri's.
            fs::create_dir_all(folder.path().join(".agents/skills/other")).unwrap();
        }
        let mut server = launch().in_folder(folder.clone()).start();
        server.ready_by("task_list", serde_json::json!({}));
        let log = server.finish().stderr;
        assert!(!log.contains("] WARN "), "{hold}: {log}");
        assert!(!log.to_ascii_lowercase().contains("warn"), "{hold}: {log}");
        assert!(log.contains("[Startup] no skills"), "{hold}: {log}");
        let output = launch().in_folder(folder.clone()).arg("doctor").command().output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !text.contains("warn"), "{hold}: {text}");
    }
}

#[test]
fn finding_f_people_52_a_configured_folder_of_skills_that_is_missing_warns_once() {
    let mut server = launch().env("COLIBRI_SKILLS_ROOT", "nowhere").start();
    server.ready_by("task_list", serde_json::json!({}));
    let log = server.finish().stderr;
    let warned: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
    assert!(warned.len() == 1 && warned[0].contains("nowhere"), "{log}");
    assert!(warned[0].contains("COLIBRI_SKILLS_ROOT"), "{log}");
    let output = launch().env("COLIBRI_SKILLS_ROOT", "nowhere").arg("doctor").command().output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("warn  skills"));
}
