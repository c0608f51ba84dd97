//! Who may do what: print, read stdin, speak SQL, look at the clock.

use crate::tidy::source::{Source, words};
use crate::tidy::{assert_none, tree};

/// Shipped code: everything but tests and build scripts.
const SHIPPED: [&str; 12] = [
    "codegen/src/",
    "codegen/canonical/src/",
    "codegen/pattern/src/",
    "codegen/runtime/src/",
    "codegen/stderr/src/",
    "codegen/suggest/src/",
    "codegen/visible/src/",
    "codegen/drift/src/",
    "server/src/",
    "server/consensus/src/",
    "server/proof/src/",
    "server/store/src/",
];
/// Code behind the wire, where stdin and stdout belong to the client; the commands print.
const SERVING: [&str; 3] = ["codegen/runtime/src/", "server/src/", "server/store/src/"];
const WIRE: [&str; 2] = ["codegen/runtime/src/wire/", "server/src/cli/"];
const PRINTS: [&str; 4] = ["print!", "println!", "eprint!", "eprintln!"];
const UNFINISHED: [&str; 4] = ["todo!", "unimplemented!", "dbg!", "#[ignore"];
const STREAMS: [&str; 4] = ["stdin", "stdout", "Stdin", "Stdout"];
const TRANSACTIONS: [&str; 4] = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT"];
const STATEMENTS: [&str; 13] = [
    ".prepare(",
    ".prepare_cached(",
    ".execute(",
    ".execute_batch(",
    ".query(",
    ".query_row(",
    ".query_map(",
    ".query_and_then(",
    ".query_one(",
    ".query_opt(",
    ".query_all(",
    ".show_opt(",
    ".show_each(",
];
const CREATION: [&str; 5] = ["File::create", ".create(true)", ".create_new(true)", "fs::write(", "fs::copy("];
const OUTSIDE: [&str; 13] = [
    "fs",
    "env",
    "net",
    "io",
    "process",
    "time",
    "thread",
    "rand",
    "getrandom",
    "SystemTime",
    "SystemClock",
    "Instant",
    "rusqlite",
];

#[test]
fn nothing_is_left_unfinished() {
    assert_none(&all(|source| uses(source, &source.code, &UNFINISHED, false)));
}

/// SQLite takes a file layer as a table of C functions; nothing else needs it.
#[test]
fn unsafe_code_is_in_one_file() {
    assert_none(&all(|source| match source.path == "server/wal/src/layer.rs" {
        true => Vec::new(),
        false => uses(source, &source.code, &["unsafe "], false),
    }));
}

#[test]
fn libraries_never_print() {
    let may_print = |path: &str| {
        path.starts_with("tests/")
            || path.contains("/tests/")
            || path.contains("/examples/")
            || path.ends_with("build.rs")
            || path == "codegen/src/main.rs"
            || path == "codegen/drift/src/main.rs"
    };
    assert_none(&all(|source| match may_print(&source.path) {
        true => Vec::new(),
        false => uses(source, &source.code, &PRINTS, false),
    }));
}

#[test]
fn nothing_but_the_wire_touches_stdin_or_stdout() {
    // A child's streams are pipes of this process's own.
    let may = |source: &Source| within(source, &WIRE) || source.path == "server/src/relay/child.rs";
    assert_none(&all(|source| match within(source, &SERVING) && !may(source) {
        true => named(source, &source.code, &STREAMS),
        false => Vec::new(),
    }));
}

#[test]
fn only_the_store_begins_and_ends_transactions() {
    // Arbiters have a message of the name COMMIT.
    let may = ["server/store/src/", "server/consensus/src/messages/phases.rs"];
    assert_none(&all(|source| match within(source, &SHIPPED) && !within(source, &may) {
        true => named(source, &source.uncommented, &TRANSACTIONS),
        false => Vec::new(),
    }));
}

#[test]
fn sql_is_in_store_files_only() {
    let may = |source: &Source| within(source, &["server/store/src/"]) || source.path.ends_with("/store.rs");
    assert_none(&all(|source| match within(source, &SHIPPED) && !may(source) {
        true => uses(source, &source.code, &STATEMENTS, true),
        false => Vec::new(),
    }));
}

/// Everything else knows the database by `Db`. SQLite's file layer is a crate of its own, `server/wal`.
#[test]
fn rusqlite_is_in_the_folders_of_sqlite_only() {
    let may = |source: &Source| within(source, &["server/store/src/"]) && source.path.contains("/sqlite/");
    let all_of_sqlite = tree::sources().into_iter().filter(may);
    assert!(all_of_sqlite.count() > 20, "the folders of SQLite have moved");
    assert_none(&all(|source| match within(source, &SHIPPED) && !may(source) {
        true => named(source, &source.code, &["rusqlite"]),
        false => Vec::new(),
    }));
}

/// What the server writes holds what its users wrote, so only the owner may read it. The demo changes a file of its own.
#[test]
fn files_are_created_private_in_one_file() {
    const SERVER: [&str; 2] = ["server/src/", "server/store/src/"];
    let may = ["server/store/src/private_file.rs", "server/src/cli/demo/"];
    assert_none(&all(|source| match within(source, &SERVER) && !within(source, &may) {
        true => uses(source, &source.code, &CREATION, true),
        false => Vec::new(),
    }));
}

/// The catalogue is compiled in; the front matter of skills is the one YAML text that a server reads.
#[test]
fn server_parses_yaml_in_one_file() {
    const READERS: [&str; 3] = ["saphyr_parser", "serde_yaml", "yaml_serde"];
    const FILE: &str = "server/src/domains/skills/engine/yaml.rs";
    assert_none(&all(|source| match source.path.starts_with("server/src/") && source.path != FILE {
        true => named(source, &source.code, &READERS),
        false => Vec::new(),
    }));
}

/// What does no input or output, but for the parts that are named below: crates, rooms of the server, and every folder `engine`.
const PURE: [&str; 21] = [
    "codegen/canonical/src/",
    "server/consensus/src/",
    "server/proof/src/",
    "server/src/report/",
    "server/src/rules/",
    "server/src/shell_word.rs",
    "server/src/wrap/answer.rs",
    "server/src/wrap/extents.rs",
    "server/src/wrap/findings.rs",
    "server/src/wrap/flights.rs",
    "server/src/wrap/hash.rs",
    "server/src/wrap/lines.rs",
    "server/src/wrap/list.rs",
    "server/src/wrap/listing.rs",
    "server/src/wrap/name.rs",
    "server/src/wrap/pin.rs",
    "server/src/wrap/policy.rs",
    "server/src/wrap/request/",
    "server/src/wrap/scan/",
    "server/src/wrap/text.rs",
    "server/src/wrap/watch.rs",
];
const COMMANDS: [&str; 3] =
    ["server/proof/src/command/", "server/proof/src/main.rs", "server/proof/src/bounded_file.rs"];
/// Domains that have an engine.
const ENGINES: [&str; 4] = [
    "server/src/domains/reputation/engine/",
    "server/src/domains/router/engine/",
    "server/src/domains/skills/engine/",
    "server/src/domains/tasks/engine/",
];
/// The router's walk along its models waits for the first of two parameters, and for nothing else of the outside.
const WAITS: [&str; 3] = [
    "server/src/domains/router/fallback.rs",
    "server/src/domains/router/input.rs",
    "server/src/domains/router/output.rs",
];

#[test]
fn engines_are_pure() {
    let sources = tree::sources();
    for place in PURE.iter().chain(&ENGINES).chain(&WAITS) {
        let found = sources.iter().any(|source| within(source, &[place]));
        assert!(found, "{place} is gone; name what took its place");
    }
    let pure = |source: &Source| within(source, &PURE) || source.path.contains("/engine/");
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| !within(source, &COMMANDS)) {
        if pure(source) {
            findings.extend(named(source, &source.code, &[&OUTSIDE[..], &["tokio"]].concat()));
        } else if within(source, &WAITS) {
            findings.extend(named(source, &source.code, &OUTSIDE));
        }
    }
    assert_none(&findings);
}

fn all(rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    tree::sources().iter().flat_map(rule).collect()
}

fn within(source: &Source, folders: &[&str]) -> bool {
    folders.iter().any(|folder| source.path.starts_with(folder))
}

/// Lines that hold one of the texts; `shipped` leaves tests out.
fn uses(source: &Source, text: &str, needles: &[&str], shipped: bool) -> Vec<String> {
    let lines: Vec<_> = match shipped {
        true => source.without_tests(text).collect(),
        false => text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect(),
    };
    let mut findings = Vec::new();
    for (number, line) in lines {
        // A macro's name must not be the end of a longer one.
        let found = needles.iter().find(|needle| {
            let alone = |(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            line.match_indices(**needle).any(alone) || needle.starts_with('.') && line.contains(**needle)
        });
        findings.extend(found.map(|needle| source.finding(number, &format!("`{needle}` has no place here"))));
    }
    findings
}

/// Lines of shipped code that hold one of the words.
fn named(source: &Source, text: &str, names: &[&str]) -> Vec<String> {
    let lines = source.without_tests(text);
    let found =
        lines.filter_map(|(number, line)| Some((number, words(line).find(|word| names.contains(word))?)));
    found.map(|(number, word)| source.finding(number, &format!("`{word}` has no place here"))).collect()
}

#[test]
fn what_has_no_place_is_found() {
    let source =
        Source::new("a.rs", "use std::fs;\n// BEGIN todo!()\nlet a = \"BEGIN\"; sprintln!();\nx.query(y);\n");
    assert_eq!(named(&source, &source.code, &OUTSIDE), ["a.rs:1: `fs` has no place here"]);
    assert_eq!(named(&source, &source.uncommented, &TRANSACTIONS), ["a.rs:3: `BEGIN` has no place here"]);
    assert_eq!(uses(&source, &source.code, &STATEMENTS, true), ["a.rs:4: `.query(` has no place here"]);
    assert_eq!(uses(&source, &source.code, &PRINTS, false), [] as [String; 0]);
    assert_eq!(uses(&source, &source.text, &UNFINISHED, false), ["a.rs:2: `todo!` has no place here"]);
}
