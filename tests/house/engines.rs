//! The acceptance suites run on SQLite and on PostgreSQL. What is SQLite's alone says so, and is little.

use std::io::Write;

use crate::tidy::tree;

/// Where the suites are.
const SUITES: [&str; 2] = ["tests/domains/", "tests/protocol/"];

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
    assert!((1..=41).contains(&marked.len()), "{} tests are SQLite's alone", marked.len());
}

#[test]
fn the_gate_runs_the_suites_whole_on_postgresql() {
    let script = std::fs::read_to_string(tree::root().join(".ci/postgres")).unwrap();
    let run = "COLIBRI_TEST_ENGINE=postgres cargo test --quiet --locked --workspace --test domains --test protocol \
               -- --test-threads=8";
    assert!(script.lines().any(|line| line.trim() == run), "no line is {run:?}");
}
