//! Consensus must come out the same on every node (consensus#layers): nothing in its folder looks at a clock, sleeps or
//! draws random numbers, and its engine has neither maps without order nor floats.

use crate::tidy::source::{Source, words};
use crate::tidy::{assert_none, tree};

const FOLDER: &str = "server/src/domains/consensus/";
/// What the tools need beside the engine; everything else in the folder is engine.
const SURFACE: [&str; 6] = ["mod.rs", "node_key", "service", "store", "tie", "verify"];

/// The kernel has these as parameters.
const INJECTED: [&str; 8] =
    ["SystemTime", "Instant", "sleep", "rand", "OsRng", "getrandom", "thread_rng", "ThreadRng"];
const WITHOUT_ORDER: [&str; 4] = ["HashMap", "HashSet", "RandomState", "DefaultHasher"];
const OUTSIDE: [&str; 8] = ["fs", "env", "net", "io", "process", "thread", "tokio", "rusqlite"];
const FLOAT_TYPES: [&str; 2] = ["f32", "f64"];

#[test]
fn theta_64_nothing_in_consensus_has_a_clock_or_randomness_of_its_own() {
    let files = files();
    let surface: Vec<_> = files.iter().filter(|source| is_surface(source)).collect();
    assert!(surface.len() >= SURFACE.len() - 1, "the tools are scanned: {}", surface.len());
    let findings = files.iter().flat_map(|source| named(source, &INJECTED));
    assert_none(&findings.collect::<Vec<_>>());
}

#[test]
fn theta_60_the_engine_of_consensus_is_the_same_everywhere() {
    let files = files();
    let engine: Vec<_> = files.iter().filter(|source| !is_surface(source)).collect();
    assert!(engine.len() > 20, "the engine is scanned: {}", engine.len());
    for source in engine {
        assert_none(&named(source, &WITHOUT_ORDER));
        assert_none(&named(source, &OUTSIDE));
        assert_none(&named(source, &FLOAT_TYPES));
    }
}

fn files() -> Vec<Source> {
    tree::sources().into_iter().filter(|source| source.path.starts_with(FOLDER)).collect()
}

/// A name stands for a file, or for a file and a folder of that name.
fn is_surface(source: &Source) -> bool {
    let path = source.path.trim_start_matches(FOLDER);
    SURFACE.iter().any(|name| {
        let rest = path.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest == ".rs" || rest.starts_with('/'))
    })
}

/// Lines of shipped code that hold one of the names.
fn named(source: &Source, names: &[&str]) -> Vec<String> {
    let lines = source.without_tests(&source.code);
    let found =
        lines.filter_map(|(number, line)| Some((number, words(line).find(|word| names.contains(word))?)));
    found.map(|(number, word)| source.finding(number, &format!("`{word}` has no place here"))).collect()
}

#[test]
fn what_has_no_place_in_consensus_is_found() {
    let path = format!("{FOLDER}a.rs");
    let text = "// HashMap\nuse std::collections::HashMap;\nlet now = std::time::Instant::now();\nuse std::fs;\nlet x: f64 = 1.0;\n";
    let source = Source::new(path, text);
    assert_eq!(named(&source, &WITHOUT_ORDER).len(), 1);
    assert_eq!(named(&source, &INJECTED).len(), 1);
    assert_eq!(named(&source, &OUTSIDE).len(), 1);
    assert_eq!(named(&source, &FLOAT_TYPES).len(), 1);
    for (file, surface) in [
        ("mod.rs", true),
        ("service.rs", true),
        ("service/a.rs", true),
        ("services.rs", false),
        ("a/mod.rs", false),
    ] {
        assert_eq!(is_surface(&Source::new(format!("{FOLDER}{file}"), "")), surface, "{file}");
    }
}
