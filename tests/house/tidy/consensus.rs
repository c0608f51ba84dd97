//! Consensus must have the same result on every node (consensus#layers). Its crate obeys the rules of every pure crate
//! ([`crate::tidy::borders`]), and has no map without order and no float. The server's part takes clock and randomness as
//! arguments, too.

use crate::tidy::source::{Source, words};
use crate::tidy::{assert_none, tree};

const ENGINE: &str = "server/consensus/src/";
const TOOLS: &str = "server/src/domains/consensus/";

/// The kernel has these as parameters.
const INJECTED: [&str; 8] =
    ["SystemTime", "Instant", "sleep", "rand", "OsRng", "getrandom", "thread_rng", "ThreadRng"];
const WITHOUT_ORDER: [&str; 4] = ["HashMap", "HashSet", "RandomState", "DefaultHasher"];
const FLOATS: [&str; 2] = ["f32", "f64"];

#[test]
fn nothing_in_consensus_has_a_clock_or_randomness_of_its_own() {
    for folder in [ENGINE, TOOLS] {
        let findings = files(folder).iter().flat_map(|source| named(source, &INJECTED)).collect::<Vec<_>>();
        assert_none(&findings);
    }
}

#[test]
fn the_engine_of_consensus_is_the_same_everywhere() {
    let engine = files(ENGINE);
    assert!(engine.len() > 20, "the engine is scanned: {}", engine.len());
    for source in engine {
        for names in [&WITHOUT_ORDER[..], &FLOATS] {
            assert_none(&named(&source, names));
        }
    }
}

/// Returns the files of a folder. A folder that has moved fails the test.
fn files(folder: &str) -> Vec<Source> {
    let files: Vec<_> =
        tree::sources().into_iter().filter(|source| source.path.starts_with(folder)).collect();
    assert!(files.len() > 5, "{folder} has {} files", files.len());
    files
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
    let text = "// HashMap\nuse std::collections::HashMap;\nlet now = std::time::Instant::now();\nlet x: f64 = 1.0;\n";
    let source = Source::new(format!("{ENGINE}a.rs"), text);
    assert_eq!(named(&source, &WITHOUT_ORDER).len(), 1);
    assert_eq!(named(&source, &INJECTED).len(), 1);
    assert_eq!(named(&source, &FLOATS).len(), 1);
}
