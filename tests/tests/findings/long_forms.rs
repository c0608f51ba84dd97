//! D13: what the long runs found, and the command that starts them. The seeds of A12 stand with the simulator.

use std::fs;
use std::path::{Path, PathBuf};

use colibri_tests::fuzzing::catalogue;

/// The work tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Two YAML readers counted lines differently, and the finding named a column that its line does not have.
#[test]
fn finding_d13_a_finding_behind_a_line_end_of_yaml_1_1_stands_inside_the_file() {
    let stored = root().join("tests/corpus/catalogue/line-end-of-yaml-1.1-before-an-open-brace");
    assert!(!catalogue::check(&fs::read(stored).unwrap()));
}
