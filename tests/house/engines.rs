//! The acceptance suites run on SQLite and on PostgreSQL. What is SQLite's alone says so, and is little.

use std::io::Write;

use crate::tidy::tree;

/// Where the suites are.
const SUITES: [&str; 2] = ["tests/domains/", "tests/protocol/"];

/// Modules of the suites that `.ci/postgres` leaves out, and why.
const LEFT_OUT: [(&str, &str); 13] = [
    ("auditor", "waits for commands that take a URL"),
    ("auditor_export", "waits for commands that take a URL"),
    ("consensus_restart", "waits for commands that take a URL"),
    ("findings", "waits for commands that take a URL; doctor's are about files"),
    ("people", "waits for commands that take a URL"),
    ("reputation_commands", "waits for commands that take a URL"),
    ("catalogue_examples", "waits for a missing session to be told from a storage failure"),
    ("chain", "waits for calls to go on while the store refuses to close a row"),
    ("commands", "waits for commands that take a URL"),
    ("database", "is about a file: how it is created, migrated, checked and refused"),
    ("postgres", "is about PostgreSQL in either run"),
    ("remedies", "waits for a missing session to be told from a storage failure"),
    ("rmcp_client", "waits for a list of sessions without a filter"),
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
fn each_module_of_the_suites_runs_on_postgresql_or_has_a_reason() {
    let files = tree::files();
    let text = |path: &str| {
        let (_, text) = files.iter().find(|(name, _)| name == path).unwrap_or_else(|| panic!("{path}"));
        text.as_str()
    };
    for suite in ["domains", "protocol"] {
        let list = text(".ci/postgres").split_once(&format!("\n{suite}=(")).expect("a list of modules").1;
        let run = list
            .split(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .map(|name| name.trim_end_matches(':'));
        let run: Vec<&str> = run.collect();
        let main = text(&format!("tests/{suite}/main.rs"));
        let modules = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        for module in modules {
            let left_out = LEFT_OUT.iter().any(|(name, _)| *name == module);
            assert!(run.contains(&module) != left_out, "{suite}: {module}");
        }
    }
}
