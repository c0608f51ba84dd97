//! The page of promises names the tests that show them: each must exist, or the promise is empty.

use std::path::Path;

/// `path::name` of every test that a page names.
fn named(page: &str) -> Vec<(&str, &str)> {
    page.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(".rs::")).collect()
}

/// The text of a test's file, or nothing.
fn source(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(format!("{path}.rs"))).unwrap_or_default()
}

/// Returns those for which the file has no test of that name.
fn missing(page: &str) -> Vec<String> {
    let exists = |path: &str, name: &str| {
        let text = source(path);
        // Properties have arguments.
        let declared = format!("fn {name}(");
        let Some((before, _)) = text.split_once(&declared) else { return false };
        let mut above = before.lines().rev().map(str::trim).skip_while(|line| ["", "async"].contains(line));
        above.by_ref().take_while(|line| line.starts_with("#[")).any(|line| line.contains("test"))
    };
    let named = named(page).into_iter();
    named
        .filter(|(path, name)| !exists(path, name))
        .map(|(path, name)| format!("{path}.rs::{name}"))
        .collect()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)).unwrap()
}

#[test]
fn every_test_that_is_named_exists() {
    let promises = page("explanation/promises.md");
    assert!(named(&promises).len() > 40, "the page has lost its tests");
    for page in [promises, page("explanation/growth.md"), page("guide/new-file.md")] {
        assert_eq!(missing(&page), Vec::<String>::new());
    }
}

/// A row without a test is a wish.
#[test]
fn every_promise_names_a_test() {
    let page = page("explanation/promises.md");
    let promises = page.split("\n## What is not promised").next().unwrap();
    let rows = promises.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Promise"));
    let bare: Vec<&str> = rows.filter(|line| !line.starts_with("| ---") && named(line).is_empty()).collect();
    assert_eq!(bare, Vec::<&str>::new());
}

/// What is wrong with the third cell of a promise, which says how it stands on PostgreSQL.
fn of_postgresql(row: &str) -> Option<String> {
    let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let [promise, shown, cell] = cells[..] else { return Some(format!("has no third cell: {row}")) };
    let wrong = |what: &str| Some(format!("{what}: {promise}"));
    if !named(cell).is_empty() {
        return None;
    }
    match cell.strip_prefix("The same").or_else(|| cell.strip_prefix("Not promised:")) {
        Some("") => named(shown).iter().any(|test| !runs_on_postgresql(test)).then(|| {
            format!("not all of its tests run on PostgreSQL, so the third cell must name some, or a reason: {promise}")
        }),
        Some(reason) if reason.len() > 15 => None,
        Some(_) => wrong("gives no reason"),
        None => wrong("neither names a test nor is the same, nor not promised"),
    }
}

/// Whether a test is one of the suites that `.ci/postgres` runs, or knows no engine. What is SQLite's alone says so itself
/// (`engines.rs`).
fn runs_on_postgresql((path, name): &(&str, &str)) -> bool {
    let suites = ["tests/domains/", "tests/protocol/", "codegen/"];
    let text = source(path);
    let body = text.split_once(&format!("fn {name}(")).map_or("", |(_, rest)| rest);
    let body = body.split_once("\n}\n").map_or(body, |(body, _)| body);
    suites.iter().any(|suite| path.starts_with(suite)) && !body.contains("sqlite_only!(")
}

#[test]
fn every_promise_says_how_it_stands_on_postgresql() {
    let page = page("explanation/promises.md");
    let (engines, rest) = page.split_once("\n## Several machines, one database\n").expect("that section");
    let promises = |part: &str| -> Vec<String> {
        let rows = part.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
        rows.filter(|line| !line.starts_with("| Promise")).map(str::to_owned).collect()
    };
    let wrong: Vec<String> = promises(engines).iter().filter_map(|row| of_postgresql(row)).collect();
    assert_eq!(wrong, Vec::<String>::new());
    let shared = rest.split("\n## ").next().unwrap_or_default();
    for number in 1..=7 {
        assert_eq!(shared.matches(&format!("| M{number}. ")).count(), 1, "M{number}");
    }
}

#[test]
fn an_empty_word_on_postgresql_is_noticed() {
    let (file, suite) = ("`tests/faults/backup.rs::x`", "`tests/protocol/wire.rs::x`");
    for (row, right) in [
        (format!("| a | {suite} | The same |"), true),
        (format!("| a | {file} | The same |"), false),
        (format!("| a | {file} | The same: no database is part of it |"), true),
        (format!("| a | {file} | {suite} |"), true),
        (format!("| a | {file} | Not promised: there is no file |"), true),
        (format!("| a | {file} | Not promised: |"), false),
        (format!("| a | {file} | ? |"), false),
        (format!("| a | {file} |"), false),
    ] {
        assert_eq!(of_postgresql(&row).is_none(), right, "{row}");
    }
}

#[test]
fn what_does_not_exist_is_noticed() {
    for gone in [
        "`tests/house/promises.rs::no_such_test`",
        "`tests/house/no_such_file.rs::every_promise_names_a_test`",
        "`tests/house/promises.rs::missing`",
    ] {
        assert_eq!(missing(&format!("| x | {gone} |")).len(), 1, "{gone}");
    }
}
