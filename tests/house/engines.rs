//! The acceptance suites run on SQLite and on PostgreSQL. What is SQLite's alone says so, and is little.

use std::io::Write;

use crate::tidy::tree;

/// Where the suites are.
const SUITES: [&str; 2] = ["tests/domains/", "tests/protocol/"];

/// Modules that are about SQLite's files from beginning to end, and why. `.ci/postgres` leaves them out.
const FILE_LEVEL: [(&str, &str); 2] = [
    ("database", "how a file is created, migrated, checked and refused"),
    ("findings::doctor", "what a file and those beside it may look like"),
];

/// How a test says it.
const MARK: &str = "sqlite_only!(";

/// The file and the reason of each test that is SQLite's alone.
fn marked() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, text) in
        tree::files().into_iter().filter(|(path, _)| SUITES.iter().any(|at| path.starts_with(at)))
    {
        for (_, rest) in text.match_indices(MARK).map(|(at, _)| text[at..].split_at(MARK.len())) {
            let reason = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            found.push((path.clone(), reason.unwrap_or_default().to_owned()));
        }
    }
    found
}

#[test]
fn tests_of_sqlite_alone_are_few_and_give_their_reasons() {
    let marked = marked();
    for (path, reason) in &marked {
        writeln!(std::io::stderr(), "{path}: {reason}").unwrap();
        assert!(reason.len() > 15, "{path}: {reason:?} is no reason");
    }
    assert!((1..40).contains(&marked.len()), "{} tests are SQLite's alone", marked.len());
}

#[test]
fn the_step_of_the_gate_leaves_out_what_is_listed_here() {
    let files = tree::files();
    let (_, step) = files.iter().find(|(path, _)| path == ".ci/postgres").expect(".ci/postgres");
    let skipped: Vec<&str> =
        step.split("--skip ").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    assert_eq!(skipped, FILE_LEVEL.map(|(module, _)| format!("{module}::")));
}
