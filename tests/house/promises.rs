//! The page of promises names the tests that show them: each must exist, or the promise is empty.

use std::path::Path;

/// `path::name` of every test that a page names.
fn named(page: &str) -> Vec<(&str, &str)> {
    page.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(".rs::")).collect()
}

/// Returns those for which the file has no test of that name.
fn missing(page: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let exists = |path: &str, name: &str| {
        let text = std::fs::read_to_string(root.join(format!("{path}.rs"))).unwrap_or_default();
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
