//! A test for each target, so that they run beside each other and a failure names its own.

use colibri_test_support::fuzzing::TARGETS;

use crate::fuzz_corpus::{corpus, run};

macro_rules! targets {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })+

        const NAMED: &[&str] = &[$(stringify!($name)),+];
    };
}

targets! { framing line_limit json intake catalogue skill keys proof export checkpoint server_lines client_lines }

/// Neither a folder nor a target of `tests/fuzz` without a test.
#[test]
fn every_target_has_a_test_a_corpus_and_a_fuzzer() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, NAMED);
    let mut sorted = names;
    sorted.sort_unstable();
    assert_eq!(corpus::names("tests/corpus"), sorted);
    let fuzzers = corpus::names("tests/fuzz/fuzz_targets");
    let fuzzers: Vec<&str> = fuzzers.iter().map(|file| file.trim_end_matches(".rs")).collect();
    assert_eq!(fuzzers, sorted);
    let manifest = corpus::text("tests/fuzz/Cargo.toml");
    for name in sorted {
        let check = format!("colibri_test_support::fuzzing::{name}::check(bytes)");
        assert!(corpus::text(&format!("tests/fuzz/fuzz_targets/{name}.rs")).contains(&check), "{name}");
        assert!(manifest.contains(&format!("[[bin]]\nname = \"{name}\"\n")), "{name}");
    }
}
