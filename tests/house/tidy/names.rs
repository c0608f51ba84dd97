//! Names that exist once, in the catalogue: tools and error codes. Comments count, for they go stale too.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::tidy::source::{Source, words};
use crate::tidy::{assert_none, tree};

/// The generator and its runtime serve any catalogue, so they know no name of this one, in tests neither.
const GENERAL: [&str; 7] = [
    "codegen/src/",
    "codegen/pattern/src/",
    "codegen/runtime/src/",
    "codegen/stderr/src/",
    "codegen/suggest/src/",
    "codegen/visible/src/",
    "codegen/drift/src/",
];
/// The server's behaviour; a handler is named as its tool is.
const SERVER: &str = "server/src/";
const HANDLERS: [&str; 2] = ["server/src/domains/", "server/src/tools/"];

/// Names that the catalogue shares with others, and where they have the other meaning.
const HOMONYMS: [(&str, &str); 2] = [
    // JSON-RPC 2.0 calls its error -32602 so.
    ("codegen/runtime/src/wire/", "INVALID_PARAMS"),
    // A state of tasks, and a code of calls.
    ("server/src/domains/tasks/", "CANCELLED"),
];

#[test]
fn generator_and_runtime_name_no_tool_and_no_error_code() {
    let names = names();
    let general = |source: &&Source| GENERAL.iter().any(|folder| source.path.starts_with(folder));
    let sources = tree::sources();
    let findings = sources.iter().filter(general).flat_map(|source| {
        let lines = source.text.lines().enumerate().map(|(index, line)| (index + 1, line));
        hits(source, lines, &names)
    });
    assert_none(&findings.collect::<Vec<_>>());
}

#[test]
fn server_names_tools_and_error_codes_in_handlers_and_domains_only() {
    let names = names();
    let ours = |source: &&Source| {
        source.path.starts_with(SERVER) && !HANDLERS.iter().any(|folder| source.path.starts_with(folder))
    };
    let sources = tree::sources();
    let findings = sources
        .iter()
        .filter(ours)
        .flat_map(|source| hits(source, source.without_tests(&source.text), &names));
    assert_none(&findings.collect::<Vec<_>>());
}

/// Handlers are named as their tools are, and SQL asks for calls by the names of tools. Codes come from the generated errors alone.
#[test]
fn handlers_and_domains_write_no_error_code_by_hand() {
    let codes: BTreeSet<String> =
        names().into_iter().filter(|name| name.chars().all(|letter| !letter.is_ascii_lowercase())).collect();
    let theirs = |source: &&Source| HANDLERS.iter().any(|folder| source.path.starts_with(folder));
    let sources = tree::sources();
    let findings = sources
        .iter()
        .filter(theirs)
        .flat_map(|source| hits(source, source.without_tests(&source.text), &codes));
    assert_none(&findings.collect::<Vec<_>>());
}

/// Every tool's name and every error code of the catalogue.
fn names() -> BTreeSet<String> {
    let path = tree::root().join("catalogue/catalogue.lock.json");
    let lock: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let tools = lock["tools"].as_array().expect("tools");
    let mut names: BTreeSet<String> = tools.iter().map(|tool| text(&tool["name"])).collect();
    let declared = tools.iter().flat_map(|tool| tool["errors"].as_array().into_iter().flatten());
    names.extend(declared.map(|error| text(&error["code"])));
    names.extend(lock["chain"].as_object().expect("chain").values().map(|error| text(&error["code"])));
    assert!(names.len() > 15, "{names:?}");
    names
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn hits<'a>(
    source: &Source,
    lines: impl Iterator<Item = (usize, &'a str)>,
    names: &BTreeSet<String>,
) -> Vec<String> {
    let homonym =
        |word: &str| HOMONYMS.iter().any(|(folder, name)| source.path.starts_with(folder) && *name == word);
    let mut findings = Vec::new();
    for (number, line) in lines {
        let found = words(line).find(|word| names.contains(*word) && !homonym(word));
        findings.extend(
            found.map(|name| source.finding(number, &format!("`{name}` is the catalogue's to name"))),
        );
    }
    findings
}

#[test]
fn names_of_the_catalogue_are_found_as_whole_words() {
    let names = BTreeSet::from(["make_note".to_owned()]);
    let source = Source::new("a.rs", "fn make_notes() {}\n// see `make_note`\n");
    let lines = source.text.lines().enumerate();
    assert_eq!(hits(&source, lines, &names), ["a.rs:1: `make_note` is the catalogue's to name"]);
}
