//! The tutorial `docs/tutorial/first-server.md` builds this server: its files are these files, and its answers are what it answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use colibri_codegen::project;

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    fs::read_to_string(here().join("../../../docs/tutorial/first-server.md")).unwrap()
}

/// The files of the page: a name in bold on a line, then its text in a block.
fn files(page: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for part in page.split("\n**`").skip(1) {
        let (name, rest) = part.split_once("`**\n\n```").expect("a block below the name");
        let (_, rest) = rest.split_once('\n').unwrap();
        let (text, _) = rest.split_once("\n```\n").expect("the block ends");
        files.push((name.to_owned(), format!("{text}\n")));
    }
    files
}

/// The block that starts with a line, without that line.
fn block<'a>(page: &'a str, first: &str, last: &str) -> &'a str {
    let (_, rest) = page.split_once(first).expect("the block's first line");
    rest.split_once(last).expect("the block's last line").0
}

#[test]
fn files_of_the_page_are_the_files_of_this_example() {
    let files = files(&page());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["catalogue/tools/counter.yaml", "src/main.rs"]);
    for (name, text) in &files {
        assert_eq!(text, &fs::read_to_string(here().join(name)).unwrap(), "{name}");
    }
}

#[test]
fn the_other_files_are_those_of_a_new_project() {
    assert!(page().contains("\ncolibri-codegen new counter --path colibri\n"));
    let made = project::files("counter", project::Source::Checkout(Path::new("/colibri"))).unwrap();
    let text = |name: &str| &made.iter().find(|(path, _)| path == Path::new(name)).unwrap().1;
    for name in ["build.rs", "catalogue/catalogue.yaml"] {
        assert_eq!(text(name), &fs::read_to_string(here().join(name)).unwrap(), "{name}");
    }
    let crates = |manifest: &str| -> BTreeSet<String> {
        let section = manifest.split_once("[dependencies]").unwrap().1;
        let section = section.split_once("\n[dev-dependencies]").map_or(section, |(section, _)| section);
        let lines = section.lines().filter(|line| line.contains('=') || line.contains(".workspace"));
        lines.map(|line| line.split(['.', ' ']).next().unwrap().to_owned()).collect()
    };
    let own = fs::read_to_string(here().join("Cargo.toml")).unwrap();
    assert_eq!(crates(text("Cargo.toml")), crates(&own));
}

#[test]
fn server_answers_what_the_page_shows() {
    let page = page();
    let requests = block(&page, "<<'END'\n", "END\n");
    let answers = block(&page, "```json\n", "\n```");
    let mut server = Command::new(env!("CARGO_BIN_EXE_counter"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    server.stdin.take().unwrap().write_all(requests.as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), answers);
}
